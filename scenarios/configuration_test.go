package scenarios

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/stack"
)

func parsed(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("test.sim", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func configured(t *testing.T, s *Scenario, seed uint64, kinds ...subjects.Kind) *Scenario {
	t.Helper()
	c, err := s.Configured(seed, kinds...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// texts are configurations as a script has them.
func texts(all []reports.Configuration) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.Informer+" "+c.String())
	}
	return out
}

const open = `cluster replicas=2
resource pods
create pods default/a default/b
informer i1 pods handlers=h1
informer i2 pods
settle
fault i1 watch=410
delete pods default/a
advance 10s
`

// A transcript has fixed defaults. An exploration draws what is open: every seed and every informer has its own configuration, a
// seed always the same.
func TestExplorationsDrawConfigurations(t *testing.T) {
	s := parsed(t, open)
	play := func(seed uint64, strategy string, kind subjects.Kind) *Result {
		res, err := Run(t.Context(), s, Options{Subject: kind, Seed: seed, Strategy: strategy})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for seed := range uint64(5) {
		const defaults = "queue=delta watch-list=off page=0 resync=0s replica=0"
		if got := texts(play(seed, "fifo", stack.Kind).Informers); !slices.Equal(got, []string{"i1 " + defaults, "i2 " + defaults}) {
			t.Errorf("the transcript of seed %d has %q", seed, got)
		}
	}
	seen := map[string]bool{}
	same := 0
	for seed := range uint64(200) {
		all := play(seed, "random", stack.Kind).Informers
		if all[0].String() == all[1].String() {
			same++
		}
		for _, c := range all {
			for _, arg := range strings.Fields(c.String()) {
				seen[arg] = true
			}
		}
		if seed > 10 {
			continue
		}
		for _, kind := range []subjects.Kind{stack.Kind, clientgo.Kind} {
			if again := play(seed, "random", kind).Informers; !slices.Equal(again, all) {
				t.Errorf("seed %d on %s has %v, and on the stack %v", seed, kind.Name, again, all)
			}
		}
	}
	for _, arg := range strings.Fields("queue=delta queue=inorder queue=atomic watch-list=off watch-list=on page=0 page=1 page=2 page=3 page=500 " +
		"resync=0s resync=2.137s resync=30.171s replica=choice replica=0 replica=1") {
		if !seen[arg] {
			t.Errorf("no seed has %s", arg)
		}
		delete(seen, arg)
	}
	if len(seen) > 0 || same > 50 {
		t.Errorf("seeds also have %v; two informers agree in %d of 200", seen, same)
	}
}

// What a script says of an informer stays, and changes nothing else that is drawn.
func TestArgumentsPinConfigurations(t *testing.T) {
	const pins = "queue=inorder watch-list=off page=0 resync=0s replica=1"
	s := parsed(t, open)
	for seed := range uint64(50) {
		drawn := configured(t, s, seed, stack.Kind).Configurations(false)
		for _, pin := range strings.Fields(pins) {
			key, _, _ := strings.Cut(pin, "=")
			pinned := configured(t, parsed(t, strings.Replace(open, "informer i1 pods", "informer i1 pods "+pin, 1)), seed, stack.Kind).Configurations(false)
			want := regexp.MustCompile(key+`=\S+`).ReplaceAllString(texts(drawn)[0], pin)
			if got := texts(pinned); got[0] != want || got[1] != texts(drawn)[1] {
				t.Fatalf("seed %d with %s has\n%q, want\n%q; without\n%q", seed, pin, got, want, texts(drawn))
			}
		}
	}
	all := strings.Replace(strings.Replace(open, "i1 pods", "i1 pods "+pins, 1), "i2 pods", "i2 pods "+pins, 1)
	if s := parsed(t, all); configured(t, s, 7, stack.Kind).Text() != s.Text() {
		t.Error("a script that leaves nothing open is changed")
	}
}

// A queue is drawn only if every subject has it.
func TestConfigurationsFitSubjects(t *testing.T) {
	few, none := stack.Kind, stack.Kind
	few.Queues, none.Queues = []subjects.Queue{subjects.QueueAtomic, subjects.QueueDelta}, nil
	for _, test := range []struct {
		kinds []subjects.Kind
		want  string
	}{
		{[]subjects.Kind{stack.Kind, clientgo.Kind}, "atomic delta inorder"},
		{[]subjects.Kind{stack.Kind, few}, "atomic delta"},
		{[]subjects.Kind{few, stack.Kind}, "atomic delta"},
		{[]subjects.Kind{none}, "default"},
	} {
		seen := map[string]bool{}
		for seed := range uint64(60) {
			for _, c := range configured(t, parsed(t, open), seed, test.kinds...).Configurations(false) {
				seen[c.Queue] = true
			}
		}
		var got []string
		for q := range seen { // order: sorted below
			got = append(got, q)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != test.want {
			t.Errorf("drawn are %v, want %s", got, test.want)
		}
	}
}

// Nothing is drawn that would take a script's point away, or make resyncs and pages most of the run.
func TestConfigurationsFitScripts(t *testing.T) {
	var big strings.Builder
	big.WriteString("resource pods\ninformer i1 pods\ninformer i2 pods\nfault i1 list=500\n")
	for n := range 3000 {
		fmt.Fprintf(&big, "create pods default/p%d\n", n)
	}
	s := parsed(t, big.String())
	watchLists, resyncs := 0, 0
	for seed := range uint64(100) {
		all := configured(t, s, seed, stack.Kind).Configurations(false)
		if all[0].WatchList {
			t.Errorf("seed %d: an informer whose lists the script lets fail makes none", seed)
		}
		if all[1].WatchList {
			watchLists++
		}
		for _, c := range all {
			if c.Resync > 0 {
				resyncs++
			}
			if c.Page != 0 && c.Page < 150 || c.Resync != 0 && c.Resync < 30*time.Second || c.Replica != "" {
				t.Errorf("seed %d has %v", seed, c)
			}
		}
	}
	if watchLists == 0 || resyncs == 0 {
		t.Errorf("the other informer tries a streaming list in %d seeds, and there are %d resyncs", watchLists, resyncs)
	}
}

// A trace's header has the script as it was played, so that its replay draws nothing, and tells the configurations again. Outputs
// are those of the commands of the scenario that was run.
func TestTracesCarryConfigurations(t *testing.T) {
	s := parsed(t, open+"show i1\n")
	for _, kind := range []subjects.Kind{stack.Kind, clientgo.Kind} {
		for seed := range uint64(20) {
			var trace bytes.Buffer
			res, err := Run(t.Context(), s, Options{Subject: kind, Seed: seed, Strategy: "random", Trace: &trace})
			if err != nil {
				t.Fatal(err)
			}
			cmds := s.File().Commands()
			if _, ok := res.Outputs[cmds[len(cmds)-1]]; !ok {
				t.Error("the output of the last command is missing")
			}
			r, err := sim.NewTraceReader("trace", &trace)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := r.Header().Script, configured(t, s, seed, kind).Text(); got != want {
				t.Fatalf("the header has\n%s\nwant\n%s", got, want)
			}
			again, err := Replay(t.Context(), r, Options{Subject: kind})
			if err != nil || again.Hash != res.Hash || !slices.Equal(again.Informers, res.Informers) {
				t.Fatalf("%s, seed %d: the replay has %v, the run had %v; %v", kind.Name, seed, again.Informers, res.Informers, err)
			}
		}
	}
}

// Traces of versions that drew nothing still replay: what is open in their script is the subject's default.
func TestReplayOfOpenScript(t *testing.T) {
	s := parsed(t, open)
	for _, kind := range []subjects.Kind{stack.Kind, clientgo.Kind} {
		var trace bytes.Buffer
		o := Options{Subject: kind, Seed: 3, Strategy: "random", Trace: &trace}
		h, err := o.header(s)
		if err != nil {
			t.Fatal(err)
		}
		res, err := hosted(t.Context(), s, &o, h, sim.NewRandom(o.Seed, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		const unknown = "queue=default watch-list=off page=0 resync=0s replica=choice"
		if got := texts(res.Informers); !slices.Equal(got, []string{"i1 " + unknown, "i2 " + unknown}) {
			t.Errorf("it had %q", got)
		}
		r, err := sim.NewTraceReader("trace", &trace)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Replay(t.Context(), r, Options{Subject: kind}); err != nil || again.Hash != res.Hash {
			t.Errorf("%s: %v", kind.Name, err)
		}
	}
}

// The time in which the world converges is told apart.
func TestConvergingTime(t *testing.T) {
	for _, test := range []struct {
		script           string
		virtual, atLeast time.Duration // atLeast: to converge
	}{
		{script: "resource pods\ninformer i1 pods\nadvance 10s\n", virtual: 10 * time.Second},
		// The next list waits for a backoff, which nothing but the end lets pass.
		{script: "resource pods\ninformer i1 pods\nadvance 10s\nfault i1 watch=410\ncreate pods default/a\n", virtual: 10 * time.Second, atLeast: time.Millisecond},
	} {
		res, err := Run(t.Context(), parsed(t, test.script), Options{Subject: stack.Kind, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if res.Virtual != test.virtual+res.Converging || res.Converging < test.atLeast || test.atLeast == 0 && res.Converging != 0 {
			t.Errorf("%v of virtual time, %v of it to converge\n%s", res.Virtual, res.Converging, test.script)
		}
	}
}
