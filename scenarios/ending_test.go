package scenarios_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/stack"
)

// withGoroutine returns client-go with one more goroutine, which an informer of it starts.
func withGoroutine(f func()) subjects.Kind {
	k := clientgo.Kind
	k.New = func(deps subjects.Dependencies) subjects.Subject { return &extended{clientgo.New(deps), f} }
	return k
}

type extended struct {
	subjects.Subject
	f func()
}

func (e *extended) AddInformer(spec subjects.InformerSpec) (subjects.Informer, error) {
	go e.f()
	return e.Subject.AddInformer(spec)
}

// panicking returns the stack with a double that panics at a list.
func panicking() subjects.Kind {
	return stack.With(stack.Parts{ListOptions: func(*metav1.ListOptions) { panic("no list today") }})
}

// ended runs a scenario, expects it to break a property, and replays its trace to the same end.
func ended(t *testing.T, kind subjects.Kind, want string, words ...string) *scenarios.Result {
	t.Helper()
	s := mustParse(t, "resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1\nadvance 2s\n")
	o := withProperties(1)
	var trace bytes.Buffer
	o.Subject, o.Trace = kind, &trace
	res, err := scenarios.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	v := res.Violation
	if v == nil || v.Property != want || v.Step == 0 {
		t.Fatalf("the run ends with %+v, want %s", v, want)
	}
	for _, word := range words {
		if !strings.Contains(v.Message, word) {
			t.Errorf("the message does not say %q: %s", word, v.Message)
		}
	}
	if res.Hash == 0 || res.Requests == 0 && want != property.NoPanic {
		t.Errorf("the result is not complete: %+v", res.Run)
	}
	if want == property.NoDeadlock {
		return res // nothing can run in this process any more
	}
	r, err := sim.NewTraceReader("t", &trace)
	if err != nil {
		t.Fatal(err)
	}
	o.Trace = nil
	again, err := scenarios.Replay(context.Background(), r, o)
	if err != nil {
		t.Fatalf("the replay: %v", err)
	}
	if again.Violation == nil || again.Violation.Error() != v.Error() || again.Hash != res.Hash || r.End().Verdict != want {
		t.Errorf("the replay ends with\n%v\nand the trace with %s; the run ended with\n%v", again.Violation, r.End().Verdict, v)
	}
	return res
}

// What the stack under test does wrong is a finding with a trace, whatever it does to the run.
func TestStackIsToBlame(t *testing.T) {
	t.Run("leak", func(t *testing.T) {
		leak := func() { <-make(chan int) }
		ended(t, withGoroutine(leak), property.NoLeak, "TestStackIsToBlame", "chan receive")
	})
	t.Run("panic", func(t *testing.T) {
		ended(t, panicking(), property.NoPanic, "no list today", "panicking.1 (ending_test.go")
	})
	t.Run("panic that client-go recovers", func(t *testing.T) {
		ended(t, withGoroutine(func() {
			defer utilruntime.HandleCrash()
			panic("no goroutine today")
		}), property.NoPanic, "no goroutine today", "TestStackIsToBlame")
	})
	if res := ended(t, stack.With(stack.Parts{ListOptions: func(*metav1.ListOptions) { var m map[string]int; m["a"]++ }}), property.NoPanic, "nil map"); res.Passed() {
		t.Error("a run with a panic has passed")
	}
}

// A later leak does not hide an earlier finding.
func TestFirstFindingCounts(t *testing.T) {
	both := withGoroutine(func() {
		go func() { <-make(chan int) }()
		defer utilruntime.HandleCrash()
		panic("first")
	})
	ended(t, both, property.NoPanic, "first")
}

const stuckChild = "INFORMERSIM_TEST_STUCK_RUN"

// A step that never comes to rest is a finding. The process of such a run can make no other one.
func TestStuckStepIsAFinding(t *testing.T) {
	if os.Getenv(stuckChild) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestStuckStepIsAFinding$", "-test.v")
		cmd.Env = append(os.Environ(), stuckChild+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS")) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	outside := make(chan int)
	kind := withGoroutine(func() { <-outside })
	kind.Host = clientgo.HostWithin(300 * time.Millisecond)
	kind.New = func(deps subjects.Dependencies) subjects.Subject {
		return &extended{clientgo.New(deps), func() {
			time.Sleep(time.Second)
			<-outside
		}}
	}
	ended(t, kind, property.NoDeadlock, "outside the bubble", "TestStuckStepIsAFinding")
	o := withProperties(1)
	o.Subject = kind
	if _, err := scenarios.Run(context.Background(), scenarios.BuiltIn(), o); err == nil || !strings.Contains(err.Error(), "never became quiescent") {
		t.Errorf("another run in that process: %v", err)
	}
}

// A defect of ours is an error that says so, not a finding.
func TestDefectIsNoFinding(t *testing.T) {
	for name, kind := range map[string]subjects.Kind{
		"a panic of ours": {Name: "broken", New: func(deps subjects.Dependencies) subjects.Subject {
			deps.Cluster.Connect("a", fakeapiserver.ByChoice())
			deps.Cluster.Connect("a", fakeapiserver.ByChoice()) // two actors of one name: the kernel panics
			return nil
		}},
	} {
		o := withProperties(1)
		o.Subject = kind
		res, err := scenarios.Run(context.Background(), scenarios.BuiltIn(), o)
		var defect *sim.DefectError
		if !errors.As(err, &defect) || !strings.Contains(err.Error(), "bug of informersim") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if res.Violation != nil {
			t.Errorf("%s: it is reported as %v", name, res.Violation)
		}
	}
}

// A fake server that panics is a finding, as one that answers wrongly is.
func TestPanicOfServerIsAFinding(t *testing.T) {
	o := withProperties(1)
	o.Subject = subjects.Kind{Name: "broken", New: func(deps subjects.Dependencies) subjects.Subject {
		s := stack.Kind.New(deps)
		deps.Cluster.OnCommit(func(store.ResourceID, store.Committed) { deps.Cluster.Store().Timeline(0).At(1 << 40) })
		return s
	}}
	res, err := scenarios.Run(context.Background(), mustParse(t, "resource pods\ncreate pods default/a\n"), o)
	if err != nil || res.Violation == nil || res.Violation.Property != property.NoPanic || !strings.Contains(res.Violation.Message, "informersim's fake server, and not the stack under test: panic: fakeapiserver: log position") {
		t.Errorf("it is reported as %v, %v", res.Violation, err)
	}
}

// A run whose time is up says what it is doing.
func TestTimeIsUp(t *testing.T) {
	s := mustParse(t, "resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1 resync=1s\nadvance 24h\n")
	for _, kind := range []subjects.Kind{stack.Kind, clientgo.Kind} {
		ctx, cancel := context.WithTimeout(context.Background(), 0)
		o := withProperties(7)
		o.Subject, o.Strategy = kind, "fifo"
		res, err := scenarios.Run(ctx, s, o)
		cancel()
		var late *scenarios.TimeoutError
		if !errors.As(err, &late) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%s: the error is %v", kind.Name, err)
		}
		if late.Seed != 7 || late.Steps == 0 || late.Steps != res.Steps || late.Virtual == 0 || late.Waits != "advance 24h0m0s" || len(late.Last) == 0 {
			t.Errorf("%s: it says %+v", kind.Name, late)
		}
		if (kind.Host != nil) != (len(late.Goroutines) > 0) {
			t.Errorf("%s: goroutines: %v", kind.Name, late.Goroutines)
		}
		if text := err.Error(); !strings.Contains(text, "seed 7") || !strings.Contains(text, "default/a") {
			t.Errorf("%s: the text is %s", kind.Name, text)
		}
	}
}
