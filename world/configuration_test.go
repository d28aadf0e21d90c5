package world

import (
	"reflect"
	"testing"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/world/wire"
)

func completed(t *testing.T, from wire.Options) *options {
	t.Helper()
	o, err := newOptions(from)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func drawn(t *testing.T, o wire.Options, seed uint64) configuration {
	t.Helper()
	c, err := configure(completed(t, o), seed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The first two seeds have every kind of fault between them, crashes, a server without streaming lists, and replicas that lag. The first
// twenty have every other value that can be drawn.
func TestSeedsDrawTheirConfiguration(t *testing.T) {
	values := map[string]map[any]int{"mix": {}, "crashes": {}, "maxCrashes": {}, "replicas": {}, "history": {}, "watchList": {}, "lagging": {}, "leap": {}}
	kinds := map[fault.Kind]bool{}
	for seed := uint64(1); seed <= 20; seed++ {
		c := drawn(t, wire.Options{}, seed)
		for name, v := range map[string]any{"mix": c.mix.Name, "crashes": c.crashes, "maxCrashes": c.maxCrashes, "replicas": c.replicas, "history": c.history, "watchList": c.watchList, "lagging": c.mix.Rates[string(fault.ReplicaLag)] >= laggingRate, "leap": c.leap} {
			values[name][v]++
		}
		for _, k := range c.mix.Kinds() {
			kinds[k] = true
		}
		if seed == 2 && (len(values["watchList"]) != 2 || len(values["lagging"]) != 2 || len(values["leap"]) != 2 || values["crashes"][0.0] != 1) {
			t.Errorf("seeds 1 and 2 draw %v", values)
		}
		if seed == 2 {
			edges, err := fault.MixNamed("edges")
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range edges.Kinds() {
				if !kinds[k] {
					t.Errorf("neither of the seeds 1 and 2 has %s", k)
				}
			}
		}
		if again := drawn(t, wire.Options{}, seed); !reflect.DeepEqual(again, c) {
			t.Errorf("seed %d draws %+v, and then %+v", seed, c, again)
		}
	}
	for name, want := range map[string]int{"mix": 3, "crashes": 1 + len(drawnCrashes), "maxCrashes": len(drawnMaxCrashes), "replicas": 3, "history": 5, "watchList": 2, "lagging": 2, "leap": 5} {
		if got := len(values[name]); got != want {
			t.Errorf("%s has %d values, want %d: %v", name, got, want, values[name])
		}
	}
}

// What Options say is not drawn, and does not change what is.
func TestOptionsPinTheConfiguration(t *testing.T) {
	storm, err := fault.MixNamed("storm")
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); seed <= 20; seed++ {
		free := drawn(t, wire.Options{}, seed)
		for name, test := range map[string]struct {
			o   wire.Options
			set func(*configuration)
		}{
			"replicas":   {wire.Options{Replicas: 5}, func(c *configuration) { c.replicas = 5 }},
			"history":    {wire.Options{History: 7}, func(c *configuration) { c.history = 7 }},
			"crashes":    {wire.Options{CrashProbability: 0.5}, func(c *configuration) { c.crashes = 0.5 }},
			"no crashes": {wire.Options{CrashProbability: -1}, func(c *configuration) { c.crashes, c.restarts = 0, false }},
			"maxCrashes": {wire.Options{MaxCrashes: 4}, func(c *configuration) { c.maxCrashes = 4 }},
			"streaming":  {wire.Options{WatchList: 1}, func(c *configuration) { c.watchList = true }},
			"no lists":   {wire.Options{WatchList: -1}, func(c *configuration) { c.watchList = false }},
			"the mix":    {wire.Options{Mix: "storm", DrawRest: true}, func(c *configuration) { c.mix = storm.DrawHalf(seed) }},
		} {
			want := free
			test.set(&want)
			if got := drawn(t, test.o, seed); !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d, %s: %+v, want %+v", seed, name, got, want)
			}
		}
		for _, o := range []wire.Options{{Mix: "default"}, {FaultMix: []byte(`{"name":"mine","rates":{"compact":0.5}}`)}, {Strategy: "fifo"}} {
			c := drawn(t, o, seed)
			c.mix = fault.Mix{}
			if want := (configuration{maxCrashes: 3, replicas: 1, watchList: true, detect: seed%4 == 3, probe: drawn(t, wire.Options{}, seed).probe}); !reflect.DeepEqual(c, want) {
				t.Errorf("seed %d: with %+v, %+v is drawn", seed, o, c)
			}
		}
	}
}

// A replay takes the configuration from the trace's header, whatever Options say now.
func TestConfigurationIsInTheHeader(t *testing.T) {
	o := wire.Options{}
	for seed := uint64(1); seed <= 20; seed++ {
		h, err := newHeader(completed(t, o), &wire.Task{Test: "TestX", Package: "p"}, seed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readConfiguration(&h)
		if want := drawn(t, o, seed); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: the header has %+v, %v, want %+v", seed, got, err, want)
		}
		for _, name := range []string{optionCrashes, optionMaxCrashes, optionReplicas, optionHistory, optionWatchList, optionLeap, optionProbe} {
			was := h.Options[name]
			h.Options[name] = "x"
			_, err := readConfiguration(&h)
			if err == nil {
				t.Errorf("%s=x is accepted", name)
			}
			h.Options[name] = was
		}
		delete(h.Options, optionWatchList)
		if got, err := readConfiguration(&h); err != nil || !got.watchList {
			t.Errorf("a header without the option: %+v, %v", got, err)
		}
	}
}

// Goroutines are interleaved in one of two neighbouring seeds of a test that is built with the overlay, and in none of another. Nothing else that
// a seed draws depends on it.
func TestInterleavingIsDrawnWithTheOverlay(t *testing.T) {
	seeded := func(from wire.Options) *options {
		o := completed(t, from)
		o.seeded = true
		return o
	}
	draw := func(o *options, seed uint64) configuration {
		c, err := configure(o, seed)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	sides := map[bool]int{}
	for seed := uint64(1); seed <= 20; seed++ {
		plain, with := drawn(t, wire.Options{}, seed), draw(seeded(wire.Options{}), seed)
		if plain.interleave {
			t.Errorf("seed %d is interleaved without the overlay", seed)
		}
		if seed%2 == 0 && with.interleave == draw(seeded(wire.Options{}), seed-1).interleave {
			t.Errorf("seeds %d and %d draw the same", seed-1, seed)
		}
		if with.interleave {
			sides[seed%2 == 0]++
		}
		for _, want := range []bool{true, false} {
			setting := map[bool]int{true: 1, false: -1}[want]
			if got := draw(seeded(wire.Options{Interleave: setting}), seed).interleave; got != want {
				t.Errorf("seed %d, with the setting %d: %v", seed, setting, got)
			}
			if got := draw(seeded(wire.Options{Mix: "storm", Interleave: setting}), seed).interleave; got != want {
				t.Errorf("seed %d, with a mix and the setting %d: %v", seed, setting, got)
			}
		}
		if draw(seeded(wire.Options{Mix: "storm"}), seed).interleave {
			t.Errorf("seed %d draws although there is a mix", seed)
		}
		h, err := newHeader(seeded(wire.Options{}), &wire.Task{Test: "TestX", Seeded: true}, seed)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readConfiguration(&h); err != nil || !reflect.DeepEqual(got, with) {
			t.Errorf("seed %d: the header has %+v, %v, want %+v", seed, got, err, with)
		}
		with.interleave = false
		if !reflect.DeepEqual(with, plain) {
			t.Errorf("seed %d draws %+v with the overlay, %+v without", seed, with, plain)
		}
	}
	if sides[true] == 0 || sides[false] == 0 {
		t.Errorf("it is always the same of two seeds: %v", sides)
	}
}

// Caches are watched for objects that are changed in every fourth run, whatever the mix, and a replay does what its run did. No report has it: nothing else depends on it.
func TestMutationsAreDetectedInEveryFourthRun(t *testing.T) {
	for seed := uint64(1); seed <= 8; seed++ {
		for _, from := range []wire.Options{{}, {Mix: "storm"}, {MutationDetector: 1}, {MutationDetector: -1, Mix: "none"}} {
			want := from.MutationDetector > 0 || from.MutationDetector == 0 && (seed == 3 || seed == 7)
			c := drawn(t, from, seed)
			h, err := newHeader(completed(t, from), &wire.Task{Test: "TestX", Package: "p"}, seed)
			if err != nil {
				t.Fatal(err)
			}
			again, err := readConfiguration(&h)
			if err != nil || c.detect != want || again.detect != want || detectsMutations(&h) != want {
				t.Errorf("seed %d of %+v: drawn %v, in the header %v, %v, want %v", seed, from, c.detect, again.detect, err, want)
			}
			without := c
			without.detect = false
			if c.String() != without.String() {
				t.Errorf("a report of seed %d has %q", seed, c.String())
			}
		}
	}
}

// Where Pods may fail, most meet one and the same fault in half of the runs, and a replay has it, too. Tests that name their stages have these.
func TestLikelyStagesAreDrawn(t *testing.T) {
	seen := map[string]int{}
	for seed := uint64(1); seed <= 40; seed++ {
		from := wire.Options{Nodes: 2}
		c := drawn(t, from, seed)
		if !c.podFaults && c.likely != "" {
			t.Errorf("seed %d has no faults of Pods, and %s is likely", seed, c.likely)
		}
		if c.podFaults {
			seen[c.likely]++
		}
		h, err := newHeader(completed(t, from), &wire.Task{Test: "TestX", Package: "p"}, seed)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := readConfiguration(&h); err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("seed %d: the header has %+v, %v, want %+v", seed, again, err, c)
		}
		if c := drawn(t, wire.Options{Nodes: 2, Stages: []wire.File{{Name: "pod"}}}, seed); c.likely != "" {
			t.Errorf("seed %d: with stages of the test's, %s is likely", seed, c.likely)
		}
	}
	if len(seen) != 3 || seen[""] < 5 || seen["pod-evicted"] < 2 {
		t.Errorf("of 40 seeds, these are likely: %v", seen)
	}
}

func TestConfigurationText(t *testing.T) {
	for text, c := range map[string]configuration{
		"1 replica":          {replicas: 1, history: fakeapiserver.AdaptiveHistory, watchList: true, maxCrashes: 3},
		"3 lagging replicas": {replicas: 3, watchList: true, mix: fault.Mix{Rates: map[string]float64{"replica-lag": 0.125}}},
		"2 replicas, watch caches of 8 events, no streaming lists, crashes (0.0078 per step, at most 3)": {replicas: 2, history: 8, crashes: 1.0 / 128, maxCrashes: 3},
		"1 replica, Pods and nodes that fail, most by pod-evicted":                                       {replicas: 1, watchList: true, podFaults: true, likely: "pod-evicted"},
		"1 replica, resourceVersions that leap every 4 writes":                                           {replicas: 1, watchList: true, leap: 4},
		"1 replica, goroutines interleaved":                                                              {replicas: 1, watchList: true, interleave: true},
	} {
		if got := c.String(); got != text {
			t.Errorf("%+v is %q, want %q", c, got, text)
		}
	}
}

// What one seed draws is no reason for another thing: each mix comes with resourceVersions that leap, by each of the steps, and with such that do not, each with probes of one write and of several.
func TestLeapsAndProbesComeWithEachMix(t *testing.T) {
	const seeds = 96
	met := map[[3]any]bool{}
	for seed := uint64(1); seed <= seeds; seed++ {
		c := drawn(t, wire.Options{}, seed)
		met[[3]any{mixCycle[(seed+3)%4], c.leap, c.probe > 0}] = true
	}
	for _, mix := range mixCycle {
		for _, leap := range append(drawnLeaps[:], 0) {
			for _, one := range []bool{false, true} {
				if !met[[3]any{mix, leap, one}] {
					t.Errorf("%d seeds have no run with the mix %s and leaps of %d in which one write is probed: %t", seeds, mix, leap, one)
				}
			}
		}
	}
}

// The first seeds that probe one write probe another one each time.
func TestSeedsProbeEachWrite(t *testing.T) {
	for writes := 1; writes <= 8; writes++ {
		met := map[int]bool{}
		for seed := uint64(1); seed <= 16; seed++ {
			if c := drawn(t, wire.Options{}, seed); c.probe > 0 {
				met[(c.probe-1)%writes] = true
			}
		}
		if len(met) != writes {
			t.Errorf("of %d writes, 16 seeds probe %d by themselves", writes, len(met))
		}
	}
	for seed := uint64(1<<64 - 8); seed != 0; seed++ {
		if c := drawn(t, wire.Options{}, seed-32); c.probe < 1 || c.probe > manyProbes {
			t.Errorf("the seed %d probes the write %d", seed-32, c.probe)
		}
	}
}
