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

// What a subject lacks is refused at the command that asks for it, and left out of a generated scenario.
func TestCommandsThatASubjectLacks(t *testing.T) {
	for _, test := range []struct {
		feature        subjects.Feature
		command, where string
		left           string
	}{
		{subjects.Transforms, "informer i2 pods transform=drop:app handlers=h2\n", "a.sim:4:1", "informer i2 pods handlers=h2\n"},
		{subjects.Transforms, "informer i2 pods transform=fail:app handlers=h2\n", "a.sim:4:1", "informer i2 pods handlers=h2\n"},
		{subjects.StreamTransforms, "informer i2 pods watch-list=on transform=fail:app\n", "a.sim:4:1", "informer i2 pods transform=fail:app\n"},
		{subjects.LateIndexes, "indexer i1 x by=name\n", "a.sim:4:1", ""},
		{subjects.Removals, "remove h1\n", "a.sim:4:1", ""},
		{subjects.Drains, "stop c1 drain\n", "a.sim:4:1", "stop c1\n"},
	} {
		const before = "resource pods\ninformer i1 pods handlers=h1\nworker c1 i1\n"
		s, err := Parse("a.sim", []byte(before+test.command))
		if err != nil {
			t.Fatal(err)
		}
		kind := subjects.Kind{Name: "old", Lacks: map[subjects.Feature]string{test.feature: "since v2"}}
		if err := s.Fits(kind); err == nil || !strings.Contains(err.Error(), test.where+": old does not have "+string(test.feature)+" (since v2)") {
			t.Errorf("%q: the error is %v", test.command, err)
		}
		left, err := s.For(kind)
		if err != nil || left.Text() != before+test.left {
			t.Errorf("of %q is left %q: %v", test.command, left.Text(), err)
		}
		for seed := range uint64(20) {
			if c, err := left.Configured(seed, kind); err != nil || c.Fits(kind) != nil {
				t.Fatalf("seed %d draws what is lacking: %v, %v\n%s", seed, err, c.Fits(kind), c.Text())
			}
		}
	}
}

// A transcript of a subject that lacks what it shows is compared without that, and the result says so.
func TestTranscriptsWithoutWhatIsLacking(t *testing.T) {
	const expected, printed = "add default/a rv=1 initial\nadd default/initial rv=2\nwatch rv=\"2\" timeout=529\n", "watch rv=\"2\" timeout=388\n"
	w := &World{options: &Options{}, result: &Result{}}
	if want, got := w.comparable(expected, printed); want != expected || got != printed || len(w.result.Unjudged) > 0 {
		t.Errorf("of a subject that lacks nothing, %q and %q are compared, and %v is not judged", want, got, w.result.Unjudged)
	}
	w.options.Subject.Lacks = map[subjects.Feature]string{subjects.InitialFlags: "since v2", subjects.WatchTimeouts: "since v3"}
	for range 2 {
		want, got := w.comparable(expected, printed)
		if want != "add default/a rv=1\nadd default/initial rv=2\nwatch rv=\"2\"\n" || got != "watch rv=\"2\"\n" {
			t.Errorf("%q and %q are compared", want, got)
		}
	}
	if not := w.result.Unjudged; len(not) != 2 || not[0].Why != "since v2" || not[1].Why != "since v3" {
		t.Errorf("not judged: %v", not)
	}
	if w.comparable("nothing\n", "of both\n"); len(w.result.Unjudged) != 2 {
		t.Errorf("not judged: %v", w.result.Unjudged)
	}
}
