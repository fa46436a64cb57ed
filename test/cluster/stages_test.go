package cluster

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestStagesWithoutPodReady(t *testing.T) {
	g := NewWithT(t)
	_, err := stagesFrom([]byte("kind: Stage\nmetadata: {name: pod-delete}\n"))
	g.Expect(err).To(MatchError(ContainSubstring("no stage pod-ready")))
}
