package scenarios_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios"
)

// A builder writes the script that one would write by hand.
func TestBuilder(t *testing.T) {
	key := scenarios.Key
	b := scenarios.New("built").
		Prose("A scenario made in Go.\nTwo lines of prose.").
		Cluster(key("replicas", 2), key("history", 100)).
		Resource("pods").
		Resource("widgets.probe.dev/v1", key("kind", "Widget"), key("scope", "cluster")).
		Writer("w1").
		Create("pods", "default/a", "default/b").
		Write("create", "widgets", "x", map[string]any{"spec": map[string]any{"size": 3}}, key("by", "w1")).
		Informer("i1", "pods", key("handlers", []string{"h1", "h2"}), key("resync", 30*time.Second), key("labels", "app!=z")).
		Handler("i1", "h3", key("resync", time.Minute)).
		Settle().
		Fault("i1", fault.Watch410).
		Fault("i1", fault.WatchOpen429, key("retry-after", 2*time.Second), key("count", 2)).
		FaultWith(map[string]any{"verb": "delete", "probability": 0.5}, "w1", fault.WriteLost, key("count", 3)).
		Fault("replica/1", fault.ReplicaLag, key("for", 10*time.Second)).
		Update("pods", "default/a").
		Delete("pods", "default/b").
		Hold("replica/1").Release("replica/1").
		Hold("h2").Release("h2").
		Compact(key("cache", "keep")).
		Restart("replica/0").
		Step(3).
		Advance(90*time.Second).
		Remove("h3").
		Expect("i1", "converged", key("count", 1)).
		Expect("i1", "", key("has", []string{"default/a"}), key("within", time.Second)).
		Log("h1").Requests("i1").Show("i1").
		Stop("i1").
		Restore(3, key("bump", 100))
	want := `# A scenario made in Go.
# Two lines of prose.
cluster replicas=2 history=100
resource pods
resource widgets.probe.dev/v1 kind=Widget scope=cluster
writer w1
create pods default/a default/b
create widgets x by=w1 {"spec":{"size":3}}
informer i1 pods handlers=h1,h2 resync=30s labels=app!=z
handler i1 h3 resync=1m0s
settle
fault i1 watch=410
fault i1 watch-open=429 retry-after=2s count=2
fault w1 write=lost count=3 {"probability":0.5,"verb":"delete"}
fault replica/1 replica=lag for=10s
update pods default/a
delete pods default/b
hold replica/1
release replica/1
hold h2
release h2
compact cache=keep
restart replica/0
step 3
advance 1m30s
remove h3
expect i1 converged count=1
expect i1 has=default/a within=1s
log h1
requests i1
show i1
stop i1
restore rv=3 bump=100
`
	if b.Text() != want {
		t.Errorf("built\n%s\nwant\n%s", b.Text(), want)
	}
	s, err := b.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "built" || s.Text() != want {
		t.Errorf("the scenario is named %q and reads\n%s", s.Name, s.Text())
	}
	if b.Len() != 31 {
		t.Errorf("got %d commands, want 31", b.Len())
	}
	res, err := scenarios.Run(context.Background(), s, withProperties(1))
	if err != nil {
		t.Fatal(err)
	}
	if !res.Passed() {
		t.Errorf("%s: %v %v", res.Verdict(), res.Violation, res.Mismatches)
	}
}

// A builder can write each kind of fault that the fault command has.
func TestBuilderFaults(t *testing.T) {
	for _, kind := range fault.Kinds() {
		target := "i1"
		switch where, _, _ := strings.Cut(string(kind), "-"); {
		case kind == fault.Compact, kind == fault.Restore, kind == fault.RestoreBumped:
			continue // commands of their own
		case where == "leader":
			target = "cluster"
		case where == "write":
			target = "w1"
		case where == "replica":
			target = "replica/0"
		}
		s, err := scenarios.New("fault").Resource("pods").Writer("w1").Informer("i1", "pods").Fault(target, kind).Scenario()
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if got := s.Faults(); len(got) != 1 || got[0] != string(kind) {
			t.Errorf("%s became %v", kind, got)
		}
	}
}

func TestBuilderErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		b    *scenarios.Builder
		want string
	}{
		{"a payload that JSON cannot encode", scenarios.New("x").Resource("pods").Write("create", "pods", "default/a", math.Inf(1)), "create: the payload: json: unsupported value"},
		{"a payload that is not an object", scenarios.New("x").Resource("pods").Write("create", "pods", "default/a", 7), "create: the payload 7 is not a JSON object"},
		{"an unknown command", scenarios.New("x").Command("setle"), `x.sim:1:1: unknown command "setle"; did you mean "settle"?`},
		{"an unknown fault", scenarios.New("x").Resource("pods").Informer("i1", "pods").Fault("i1", "watch-eoff"), `x.sim:3:10: fault: unknown fault watch=eoff; did you mean watch=eof?`},
		{"a fault without a place", scenarios.New("x").Resource("pods").Informer("i1", "pods").Fault("i1", "earthquake"), "unknown fault watch=earthquake"},
		{"an undeclared name", scenarios.New("x").Stop("i1"), `x.sim:1:1: stop: there is no informer or worker named "i1"; declare it first`},
	} {
		_, err := tt.b.Scenario()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}
