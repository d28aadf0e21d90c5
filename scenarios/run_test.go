package scenarios_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

func mustParse(t *testing.T, text string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("test.sim", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mix(t *testing.T, name string) *fault.Mix {
	t.Helper()
	m, err := fault.MixNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return &m
}

// Errors in a script have their position and a hint, and all commands' errors are reported at once.
func TestBadScripts(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"unknown command", "setle", `test.sim:1:1: unknown command "setle"; did you mean "settle"?`},
		{"bad duration", "advance 5x", `test.sim:1:9: the argument: "5x" is not a duration; write it like 250ms, 2s or 1m30s`},
		{"two errors", "advance\nstep x", "test.sim:1:1: advance: the duration is missing; usage: advance DURATION\ntest.sim:2:6: the argument: \"x\" is not an integer; write a whole number like 12"},
		{"unterminated quote", `informer "i1 pods`, "test.sim:1:10: the quoted string is not terminated; close it with a double quote on the same line; write a newline as \\n"},
		{"cluster too late", "resource pods\ncluster", "test.sim:2:1: cluster: the cluster is already in use; put it first"},
		{"replicas", "cluster replicas=9", `test.sim:1:9: replicas: "9" is out of range; use 1 to 5`},
		{"a reserved name", "resource pods\ninformer script pods", `test.sim:2:1: informer: the name "script" is reserved; choose another name`},
		{"a name with a slash", "resource pods\ninformer i1 pods handlers=a/b", `test.sim:2:1: informer: the name "a/b" contains a slash; choose another name`},
		{"workers like replicas", "resource pods\ninformer i1 pods\nworker replica i1", `test.sim:3:1: worker: the name "replica" is reserved; choose another name`},
		{"workers of a resource", "resource pods\nworker c1 pods", `test.sim:2:1: worker: "pods" is a resource, not an informer; declare it first`},
		{"half a limiter", "resource pods\ninformer i1 pods\nworker c1 i1 base=1s", `test.sim:3:14: worker: an exponential limiter needs both base= and max=; write it like base=5ms max=10s`},
		{"a limiter whose delay is too long", "resource pods\ninformer i1 pods\nworker c1 i1 base=1s max=1h", `test.sim:3:22: worker: max=1h is out of range; use a duration from base= to 16m40s`},
		{"no call fault", "resource pods\ninformer i1 pods\nworker c1 i1\nreconcile c1", `test.sim:4:1: reconcile: no fault is given; write it like takes=2s or panics=1`},
		{"no rate", "resource pods\ninformer i1 pods\nworker c1 i1\nreconcile c1 fails=often", `test.sim:4:14: fails=often is not a rate; use a number, a probability like 0.1, always or never`},
		{"too slow", "resource pods\ninformer i1 pods handlers=h1\nhandle h1 takes=1h", `test.sim:3:11: takes: "1h" is out of range; use 5m or less`},
		{"workers converge", "resource pods\ninformer i1 pods\nworker c1 i1\nexpect c1 converged", `test.sim:4:1: expect: c1 are workers, but this is for informers; workers are idle or busy, and have queued=N`},
		{"an idle informer", "resource pods\ninformer i1 pods\nexpect i1 idle", `test.sim:3:1: expect: i1 is an informer, but this is for workers; idle, busy and queued= are for workers`},
		{"a name twice", "resource pods\nresource pods", `test.sim:2:1: resource: "pods" is already the name of a resource; choose another name`},
		{"unknown resource", "resource podz", `test.sim:1:10: resource: "podz" is not a built-in resource; did you mean "pods"? Or write a custom resource as podz.GROUP/VERSION kind=KIND`},
		{"custom resource without a kind", "resource widgets.probe.dev/v1", `test.sim:1:10: resource: the kind of widgets.probe.dev/v1 is unknown; add kind=Widget`},
		{"resource not declared", "informer i1 pods", `test.sim:1:1: informer: there is no resource named "pods"; declare it first`},
		{"wrong kind of name", "resource pods\nstop pods", `test.sim:2:1: stop: "pods" is a resource, not an informer or worker; declare it first`},
		{"near name", "resource pods\ninformer inf1 pods\nstop inf2", `test.sim:3:1: stop: there is no informer or worker named "inf2"; did you mean "inf1"?`},
		{"unknown replica", "resource pods\ninformer i1 pods replica=3", `test.sim:2:1: informer: there is no replica 3: the cluster has 1; write cluster replicas=N first`},
		{"a worker is not restarted", "resource pods\ninformer i1 pods\nworker c1 i1\nrestart c1", `test.sim:4:1: restart: "c1" is a worker, not an informer; did you mean "i1"?`},
		{"nothing to restart", "restart", `test.sim:1:1: restart: the informer or replica is missing; usage: restart INFORMER|replica/N`},
		{"replica target", "restart replica/1", `test.sim:1:1: restart: "replica/1" is not a replica; replicas are replica/0 to replica/0`},
		{"label selector", "resource pods\ninformer i1 pods labels=a=b=c", "test.sim:2:18: informer: \"a=b=c\" is not a label selector: "},
		{"field selector", "resource pods\ninformer i1 pods fields=a", "test.sim:2:18: informer: \"a\" is not a field selector: "},
		{"key", "resource pods\ncreate pods a/b/c", `test.sim:2:13: create: "a/b/c" is not a key; write it like default/a, or a for a cluster-scoped resource`},
		{"name", "resource pods\ncreate pods default/a default/My_Pod", `test.sim:2:23: create: "My_Pod" is not the name of one of the pods: a lowercase RFC 1123 subdomain must consist of`},
		{"namespace", "resource pods\ncreate pods kube.system/a", `test.sim:2:13: create: "kube.system" is not the name of a namespace: must not contain dots; an apiserver would refuse it`},
		{"name that is no segment of a path", "resource clusterroles.rbac.authorization.k8s.io/v1\ncreate clusterroles 100%", `test.sim:2:21: create: "100%" is not the name of one of the clusterroles: may not contain '%'`},
		{"namespaced", "resource pods\ncreate pods a", `test.sim:2:1: create: pods are namespaced, "a" is not; write it as NAMESPACE/a`},
		{"cluster scoped", "resource nodes\ncreate nodes default/a", `test.sim:2:1: create: nodes are cluster scoped, "default/a" has a namespace; write a`},
		{"payload for two", "resource pods\ncreate pods default/a default/b {}", `test.sim:2:1: create: a payload is for one object, not 2; write one command per object`},
		{"payload of another kind", "resource pods\ncreate pods default/a {\"kind\":\"Node\"}", `test.sim:2:23: create: the payload is not a Pod: its kind is Node of v1; write the object as its API does`},
		{"payload of another name", "resource pods\ncreate pods default/a {\"metadata\":{\"name\":\"b\"}}", `the payload is not a Pod: its name is "b", but the command has "a"`},
		{"payload with a wrong type", "resource pods\ncreate pods default/a {\"spec\":7}", `test.sim:2:31: create: the payload is not a Pod: spec is a number, want object; write`},
		{"rv and by", "resource pods\nwriter w1\ncreate pods default/a rv=5 by=w1", `test.sim:3:1: create: rv= and by= exclude each other`},
		{"no fault", "resource pods\ninformer i1 pods\nfault i1", "test.sim:3:1: fault: no fault is given; write it like watch=410"},
		{"two faults", "resource pods\ninformer i1 pods\nfault i1 watch=eof list=500", "test.sim:3:20: fault: more than one fault; write one command per fault"},
		{"unknown fault", "resource pods\ninformer i1 pods\nfault i1 list=50", "test.sim:3:10: fault: unknown fault list=50; did you mean list=500?"},
		{"fault with an unknown field", "resource pods\ninformer i1 pods\nfault i1 watch=eof {\"afer\": {}}", `test.sim:3:20: fault: error unmarshaling JSON: while decoding JSON: json: unknown field "afer"; write it like {"after"`},
		{"fault with a duplicate field", "resource pods\ninformer i1 pods\nfault i1 watch=eof {\"count\": 3}", `test.sim:3:20: fault: the payload has a count, which belongs in the command; write it like`},
		{"fault with a bad probability", "resource pods\ninformer i1 pods\nfault i1 watch=eof {\"probability\": 3}", `test.sim:3:20: fault watch-eof: probability is 3: it must be between 0 and 1`},
		{"fault with a negative duration", "resource pods\ninformer i1 pods\nfault i1 watch=stall for=-2s", `test.sim:3:1: fault watch-stall: duration is -2s: it must not be negative`},
		{"leader of a client", "resource pods\ninformer i1 pods\nfault i1 leader=loss", `test.sim:3:1: fault: "i1" has no leader; write it like fault cluster leader=loss`},
		{"write of an informer", "resource pods\ninformer i1 pods\nfault i1 write=lost", `test.sim:3:10: fault: "i1" is an informer, which never writes: a write fault is for a writer; declare one with writer NAME, and write with by=NAME`},
		{"write of an informer beside writers", "resource pods\ninformer i1 pods\nwriter w1\nwriter w2\nfault i1 write=lost", `test.sim:5:10: fault: "i1" is an informer, which never writes: a write fault is for a writer; declared: w1, w2`},
		{"watch of a writer", "resource pods\ninformer i1 pods\nwriter w1\nfault w1 watch-open=503", `test.sim:4:10: fault: "w1" is a writer, which only writes: a watch fault is for an informer; declared: i1`},
		{"fault of a replica", "resource pods\ninformer i1 pods\nfault i1 replica=lag", `test.sim:3:1: fault: "i1" is not a replica; replicas are replica/0 to replica/0`},
		{"empty expectation", "resource pods\ninformer i1 pods\nexpect i1", "test.sim:3:8: expect: nothing is expected; write it like expect i1 converged"},
		{"unknown state", "resource pods\ninformer i1 pods\nexpect i1 convergd", `test.sim:3:11: the argument: unknown value "convergd"; did you mean "converged"?`},
		{"negative time", "advance -2s", "test.sim:1:9: the argument: the duration -2s is negative; use 0s or more"},
		{"output of nothing", "----\nx", "test.sim:1:1: the ---- of an expected output does not follow a command; put it on the line directly below a command"},
	} {
		_, err := scenarios.Parse("test.sim", []byte(tt.text))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.name, err, tt.want)
		}
		var e *script.Error
		if !errors.As(err, &e) || e.Pos.Line == 0 {
			t.Errorf("%s: no position in %v", tt.name, err)
		}
	}
}

// Errors that only a run can find have the position of the command.
func TestCommandsThatFail(t *testing.T) {
	const start = "resource pods\ncreate pods default/a rv=5\ninformer i1 pods handlers=h1\n"
	for _, tt := range []struct{ name, text, want string }{
		{"create twice", "create pods default/a", `test.sim:4:1: create pods default/a: pods "a" already exists`},
		{"update of nothing", "update pods default/b", `test.sim:4:1: update pods default/b: pods "b" not found`},
		{"delete of nothing", "delete pods default/b", `test.sim:4:1: delete pods default/b: pods "b" not found`},
		{"rv in the past", "update pods default/a rv=3", "test.sim:4:1: update: rv=3: "},
		{"compact the future", "compact rv=99", "test.sim:4:1: compact: fakeapiserver: cannot compact to 99: the store is at 5"},
		{"handler after stop", "stop i1\nhandler i1 h2", "test.sim:5:1: handler h2: "},
		{"removed twice", "remove h1\nremove h1", `test.sim:5:1: informer i1 has no handler "h1"`},
	} {
		_, err := scenarios.Run(context.Background(), mustParse(t, start+tt.text), withProperties(1))
		var se *scenarios.ScriptError
		if !errors.As(err, &se) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

// Unmet expectations are mismatches, each with its position, and the run continues.
func TestMismatches(t *testing.T) {
	s := mustParse(t, `resource pods
create pods default/a
informer i1 pods handlers=h1
expect i1 synced converged count=1 has=default/a
settle
expect i1 unsynced
expect i1 diverged
expect i1 count=2
expect i1 rv=9
expect i1 has=default/b
expect i1 missing=default/a
expect i1 count=2 within=3s
log h1
----
h1 add default/a rv=2 initial

show pods
`)
	res, err := scenarios.Run(context.Background(), s, withProperties(1))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range res.Mismatches {
		if m.Message == "" {
			m.Message = "want " + m.Expected + "got " + m.Actual
		}
		got = append(got, m.At+": "+m.Message)
	}
	want := []string{
		"test.sim:4:1: informer i1: HasSynced is false, want synced",
		"test.sim:6:1: informer i1: HasSynced is true, want unsynced",
		"test.sim:7:1: informer i1 has converged with the store, want diverged",
		"test.sim:8:1: informer i1 holds 1 objects, want 2",
		`test.sim:9:1: informer i1 has synced to resourceVersion "1", want "9"`,
		"test.sim:10:1: informer i1 does not hold default/b",
		"test.sim:11:1: informer i1 holds default/a",
		"test.sim:12:1: informer i1 holds 1 objects, want 2 after 3s",
		"test.sim:14:1: want h1 add default/a rv=2 initial\ngot h1 add default/a rv=1 initial\n",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if res.Passed() || res.Verdict() != "mismatch" || res.Violation != nil {
		t.Errorf("passed %v, verdict %s, violation %v", res.Passed(), res.Verdict(), res.Violation)
	}
	show := s.File().Commands()
	if out := res.Outputs[show[len(show)-1]]; out != "default/a rv=1\n" {
		t.Errorf("show printed %q", out)
	}
}

// A transcript with an expected violation fails if the property holds; other schedules need not break it.
func TestExpectedViolation(t *testing.T) {
	s := mustParse(t, "resource pods\ninformer i1 pods\nexpect violation PerKeyOrder\n")
	for _, tt := range []struct {
		strategy, verdict string
		passed            bool
	}{{"fifo", "held", false}, {"random", "pass", true}} {
		o := withProperties(1)
		o.Strategy = tt.strategy
		res, err := scenarios.Run(context.Background(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		if res.Passed() != tt.passed || res.Verdict() != tt.verdict {
			t.Errorf("%s: passed %v, verdict %s", tt.strategy, res.Passed(), res.Verdict())
		}
	}
}

func TestBadOptions(t *testing.T) {
	s := scenarios.BuiltIn()
	for _, tt := range []struct {
		name string
		edit func(*scenarios.Options)
		want string
	}{
		{"no subject", func(o *scenarios.Options) { o.Subject = subjects.Kind{} }, "scenarios: Options.Subject is not set"},
		{"strategy", func(o *scenarios.Options) { o.Strategy = "randm" }, `there is no strategy "randm"; did you mean "random"?`},
		{"fifo with faults", func(o *scenarios.Options) { o.Strategy, o.Mix = "fifo", mix(t, "default") }, "the strategy fifo never picks a fault, so it cannot be used with a fault mix; use random"},
	} {
		o := withProperties(1)
		tt.edit(&o)
		if _, err := scenarios.Run(context.Background(), s, o); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestRunEnds(t *testing.T) {
	long := mustParse(t, "resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1 resync=1s\nadvance 24h\n")
	o := withProperties(1)
	o.MaxSteps = 10_000
	res, err := scenarios.Run(context.Background(), long, o)
	if err != nil {
		t.Fatal(err)
	}
	if v := res.Violation; v == nil || v.Property != "NoLivelock" || v.Step < 10_000 {
		t.Errorf("an endless run: %v", v)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := scenarios.Run(ctx, long, withProperties(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled run: %v", err)
	}
}

// A trace replays to the same hash, number of steps and verdict.
func TestReplay(t *testing.T) {
	for _, name := range []string{"none", "default", "storm"} {
		for seed := range uint64(20) {
			var trace bytes.Buffer
			o := withProperties(seed)
			o.Mix, o.Trace = mix(t, name), &trace
			res, err := scenarios.Run(context.Background(), scenarios.BuiltIn(), o)
			if err != nil {
				t.Fatal(err)
			}
			r, err := sim.NewTraceReader("t", bytes.NewReader(trace.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			again, err := scenarios.Replay(context.Background(), r, withProperties(0))
			if err != nil {
				t.Fatalf("mix %s, seed %d: %v", name, seed, err)
			}
			if again.Hash != res.Hash || again.Steps != res.Steps || again.Verdict() != res.Verdict() || again.Mix != name {
				t.Errorf("mix %s, seed %d: the replay has hash %x after %d steps, the run %x after %d", name, seed, again.Hash, again.Steps, res.Hash, res.Steps)
			}
		}
	}
}

// A run whose trace cannot be written fails.
func TestTraceCannotBeWritten(t *testing.T) {
	o := withProperties(1)
	o.Trace = fullDisk{}
	if _, err := scenarios.Run(context.Background(), scenarios.BuiltIn(), o); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

var _ io.Writer = fullDisk{}
