package scenarios

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/subjects"
)

func TestWhatASubjectLacks(t *testing.T) {
	s, err := Parse("a.sim", []byte("resource pods\ninformer i1 pods queue=atomic watch-list=on page=2\nindexer i1 x by=name\nsettle\n"))
	if err != nil {
		t.Fatal(err)
	}
	kind := subjects.Kind{Name: "old", Queues: []subjects.Queue{subjects.QueueDelta}, Lacks: map[subjects.Feature]string{
		subjects.QueueFeature(subjects.QueueAtomic): "since v2", subjects.StreamingLists: "since v3", subjects.LateIndexes: "since v4",
	}}
	if err := s.Fits(kind); err == nil || !strings.Contains(err.Error(), "a.sim:2:1: old does not have queue=atomic (since v2)") {
		t.Errorf("the error is %v", err)
	}
	if _, err := Run(t.Context(), s, Options{Subject: kind}); err == nil || !strings.Contains(err.Error(), "old does not have queue=atomic") {
		t.Errorf("a run ends with %v", err)
	}
	left, err := s.For(kind)
	if err != nil || left.Text() != "resource pods\ninformer i1 pods page=2\nsettle\n" {
		t.Errorf("what is left is %q: %v", left.Text(), err)
	}
	for seed := range uint64(20) {
		c, err := left.Configured(seed, kind)
		if err != nil || c.Fits(kind) != nil {
			t.Fatalf("seed %d draws what is lacking: %v, %v\n%s", seed, err, c.Fits(kind), c.Text())
		}
	}
	if same, err := s.For(subjects.Kind{Name: "new"}); same != s || err != nil {
		t.Errorf("a kind that lacks nothing gets another scenario: %v", err)
	}
}
