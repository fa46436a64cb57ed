package main

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
)

// Files of a folder of certificates, named as in a Secret of type kubernetes.io/tls.
const (
	certificateFile = "tls.crt"
	keyFile         = "tls.key"
)

// checkCertificates makes sure that certificates which a flag names are there. The metrics server would otherwise take a
// self-signed one without a word, and keep it.
func checkCertificates(o *options) error {
	for _, folder := range []struct{ flag, path string }{
		{"--metrics-cert-dir", o.metricsCertDir},
		{"--webhook-cert-dir", o.webhookCertDir},
	} {
		if folder.path == "" {
			continue
		}
		if _, err := tls.LoadX509KeyPair(filepath.Join(folder.path, certificateFile), filepath.Join(folder.path, keyFile)); err != nil {
			return fmt.Errorf("%s must have a certificate in %s and its key in %s: %w", folder.flag, certificateFile, keyFile, err)
		}
	}
	return nil
}
