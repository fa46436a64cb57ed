package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"
)

// apiServer answers as an API server does, as far as a path has an answer; everything else is not found. An answer is
// an object, or an error of apimachinery.
type apiServer struct {
	*httptest.Server
	t       *testing.T
	answers map[string]any

	mu       sync.Mutex
	requests []string // path and query
}

func newAPIServer(t *testing.T, answers map[string]any) *apiServer {
	t.Helper()
	s := &apiServer{t: t, answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.CloseClientConnections() // of watches
		s.Close()
	})
	return s
}

func (s *apiServer) serve(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, req.URL.String())
	s.mu.Unlock()

	answer, found := s.answers[req.URL.Path]
	switch {
	case !found:
		answer = &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource",
		}}
	case req.URL.Query().Get("sendInitialEvents") != "":
		answer = apierrors.NewInvalid(metav1.SchemeGroupVersion.WithKind("ListOptions").GroupKind(), "", nil) // as an old server
	case req.URL.Query().Get("watch") != "":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-req.Context().Done()
		return
	}
	code := http.StatusOK
	if err, ok := answer.(*apierrors.StatusError); ok {
		status := err.ErrStatus
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		status.Status = metav1.StatusFailure
		code, answer = int(status.Code), status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		s.t.Error(err)
	}
}

// asked returns the requests so far.
func (s *apiServer) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// kubeconfig returns a file that leads to a server.
func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	content, err := yaml.Marshal(clientcmdapi.Config{
		APIVersion:     "v1",
		Kind:           "Config",
		Clusters:       []clientcmdapi.NamedCluster{{Name: "c", Cluster: clientcmdapi.Cluster{Server: url}}},
		Contexts:       []clientcmdapi.NamedContext{{Name: "c", Context: clientcmdapi.Context{Cluster: "c", AuthInfo: "c"}}},
		AuthInfos:      []clientcmdapi.NamedAuthInfo{{Name: "c"}},
		CurrentContext: "c",
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
