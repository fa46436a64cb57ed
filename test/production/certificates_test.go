package production

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	certutil "k8s.io/client-go/util/cert"
)

// certificates is a folder with a certificate, as the kubelet makes it of a Secret: the files are links into a folder that
// is exchanged as a whole.
type certificates struct {
	folder  string
	version int
}

func newCertificates() *certificates {
	GinkgoHelper()
	c := &certificates{folder: GinkgoT().TempDir()}
	c.rotate()
	for _, name := range []string{"tls.crt", "tls.key"} {
		Expect(os.Symlink(filepath.Join("..data", name), filepath.Join(c.folder, name))).To(Succeed())
	}
	return c
}

// rotate replaces the certificate and its key, and returns the authority that vouches for the new ones.
func (c *certificates) rotate() (authority []byte) {
	GinkgoHelper()
	certificate, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	Expect(err).NotTo(HaveOccurred())
	c.version++
	data := fmt.Sprintf("..%d", c.version)
	Expect(os.Mkdir(filepath.Join(c.folder, data), 0o700)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(c.folder, data, "tls.crt"), certificate, 0o600)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(c.folder, data, "tls.key"), key, 0o600)).To(Succeed())
	Expect(os.Symlink(data, filepath.Join(c.folder, "..new"))).To(Succeed())
	Expect(os.Rename(filepath.Join(c.folder, "..new"), filepath.Join(c.folder, "..data"))).To(Succeed())
	Expect(os.RemoveAll(filepath.Join(c.folder, fmt.Sprintf("..%d", c.version-1)))).To(Succeed())
	return certificate
}

// authority vouches for the present certificate.
func (c *certificates) authority() []byte {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(c.folder, "tls.crt"))
	Expect(err).NotTo(HaveOccurred())
	return content
}

// served returns the certificate that a server presents now, or nil.
func served(address string) *x509.Certificate {
	connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) // it is the certificate that is looked at
	if err != nil {
		return nil
	}
	defer connection.Close()
	return connection.ConnectionState().PeerCertificates[0]
}

func firstOf(bundle []byte) *x509.Certificate {
	GinkgoHelper()
	block, _ := pem.Decode(bundle)
	certificate, err := x509.ParseCertificate(block.Bytes)
	Expect(err).NotTo(HaveOccurred())
	return certificate
}
