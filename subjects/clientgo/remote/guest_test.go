package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/bubble/overlay"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/internal/garbage"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/clientgo/remote"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if build.path != "" {
		os.RemoveAll(filepath.Dir(build.path))
	}
	os.Exit(code)
}

var build struct {
	once sync.Once
	path string
	err  error
}

// built returns the program of a guest with this module's release of client-go.
func built(t testing.TB) *remote.Guest {
	t.Helper()
	build.once.Do(func() {
		var folder string
		if folder, build.err = filepath.Abs(filepath.Join("..", "guest")); build.err != nil {
			return
		}
		var temp string
		if temp, build.err = os.MkdirTemp("", "guest"); build.err != nil {
			return
		}
		build.path = filepath.Join(temp, "guest")
		var tool *overlay.Toolchain
		if tool, build.err = overlay.Ask(context.Background(), "go", "", os.Environ()); build.err != nil {
			return
		}
		args := []string{"build", "-ldflags=-w", "-o", build.path}
		if bubble.Seeded() { // the guest is to be what this program is
			var edits string
			if tool, build.err = tool.Overlaid(filepath.Join(temp, "toolchain")); build.err != nil {
				return
			}
			if edits, build.err = overlay.Write(tool.Root, temp); build.err != nil {
				return
			}
			args = append(args, "-overlay", edits)
		}
		cmd := exec.Command(tool.Command, append(args, folder)...)
		cmd.Env = tool.Env
		if out, err := cmd.CombinedOutput(); err != nil {
			build.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if build.err != nil {
		t.Fatal(build.err)
	}
	g := &remote.Guest{Path: build.path, Name: "client-go@test"}
	t.Cleanup(g.Close)
	return g
}

// kindOf returns the kind of subject whose client-go is in a guest, with the name of the built-in one.
func kindOf(g *remote.Guest) subjects.Kind {
	k := clientgo.Kind
	if k.Interleaved != nil {
		k.Interleaved = g.Interleaved
	}
	k.New, k.Host = clientgo.NewOn(g.Enter, nil), g.Host
	return k
}

func options(t testing.TB, k subjects.Kind, seed uint64, mix string) scenarios.Options {
	t.Helper()
	o := scenarios.Options{Subject: k, Seed: seed, Properties: properties.All()}
	if mix != "" {
		m, err := fault.MixNamed(mix)
		if err != nil {
			t.Fatal(err)
		}
		o.Mix = &m
	}
	return o
}

func trace(t testing.TB, s *scenarios.Scenario, o scenarios.Options) (*scenarios.Result, []byte) {
	t.Helper()
	var b bytes.Buffer
	o.Trace = &b
	res, err := scenarios.Run(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return res, b.Bytes()
}

// compare fails unless a run in a guest is the run in this process: the same trace, byte for byte, with everything that the properties
// said of it.
func compare(t *testing.T, s *scenarios.Scenario, guest subjects.Kind, seed uint64, mix string) {
	t.Helper()
	here, want := trace(t, s, options(t, clientgo.Kind, seed, mix))
	there, got := trace(t, s, options(t, guest, seed, mix))
	if here.Hash != there.Hash || here.Verdict() != there.Verdict() || !bytes.Equal(got, want) {
		t.Errorf("%s, seed %d: in the guest %x (%s) after %d steps, here %x (%s) after %d", s.Name, seed, there.Hash, there.Verdict(), there.Steps, here.Hash, here.Verdict(), here.Steps)
	}
}

// Goroutines in a guest are interleaved, too: a seed is one run. Mostly it is that of this process, but where an order has an answer, the guest's
// goroutines run on before it gets the next one.
func TestInterleavedRunsRepeat(t *testing.T) {
	if !bubble.Seeded() {
		t.Skip("built without the overlay")
	}
	guest, same := kindOf(built(t)), 0
	const seeds = 40
	for seed := uint64(1); seed <= seeds; seed++ {
		r, err := generate.OfSeed(seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		made := func(k subjects.Kind) (*scenarios.Result, []byte) {
			return trace(t, r.Scenario, scenarios.Options{
				Subject: k, Seed: seed, Strategy: r.Strategy, Mix: r.Mix, Properties: properties.All(), Interleave: scenarios.InterleaveOn,
			})
		}
		first, want := made(guest)
		again, got := made(guest)
		if first.Hash != again.Hash || !bytes.Equal(got, want) || !first.Passed() {
			t.Errorf("seed %d: %x after %d steps, then %x after %d: %s", seed, first.Hash, first.Steps, again.Hash, again.Steps, first.Verdict())
		}
		if _, here := made(clientgo.Kind); bytes.Equal(here, want) {
			same++
		}
	}
	if same < seeds*3/4 {
		t.Errorf("%d of %d interleaved runs are those of this process", same, seeds)
	}
}

// Every transcript of the catalogue is the same run at the other end of a pipe.
func TestTranscriptsAreTheSame(t *testing.T) {
	t.Cleanup(garbage.CollectSeldom())
	guest := kindOf(built(t))
	files, err := filepath.Glob("../../../scenarios/testdata/*.sim")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scenarios: %v", len(files), err)
	}
	for _, path := range files {
		s, err := scenarios.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, s, guest, 1, "")
	}
}

// So are explorations of generated scenarios, with every kind of queue, workers, handlers that panic, and faults.
func TestExplorationsAreTheSame(t *testing.T) {
	t.Cleanup(garbage.CollectSeldom())
	guest := kindOf(built(t))
	for seed := uint64(1); seed <= 20; seed++ {
		s, err := generate.Scenario(sim.NewStream(seed, "remote"), fmt.Sprintf("seed%d", seed), 40)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, s, guest, seed, "storm")
	}
}
