package clientgo

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

func TestSubjectWithoutABubble(t *testing.T) {
	k := sim.NewKernel(sim.Options{Strategy: sim.NewFIFO()})
	s := New(subjects.Dependencies{Kernel: k, Cluster: fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})})
	_, err := s.AddInformer(subjects.InformerSpec{Name: "i1"})
	if err == nil || !strings.Contains(err.Error(), "clientgo.Host") {
		t.Errorf("the error is %v; it should say what to do", err)
	}
}
