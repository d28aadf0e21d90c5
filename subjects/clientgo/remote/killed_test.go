package remote_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/internal/defective"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/clientgo/remote"
)

// A guest that is killed ends its run with a sentence; what has happened until then is in the trace, and the next run has another guest.
func TestAKilledGuest(t *testing.T) {
	g := built(t)
	kind := kindOf(g)
	s := scenarios.BuiltIn()
	_, whole := trace(t, s, options(t, kind, 1, ""))

	var cut bytes.Buffer
	o := options(t, kind, 1, "")
	o.Trace = &cut
	killed := false
	o.Settled = func(*scenarios.World, string) {
		if !killed {
			killed = true
			if err := g.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	_, err := scenarios.Run(t.Context(), s, o)
	var dead *remote.DeadError
	if !killed || !errors.As(err, &dead) || !strings.Contains(err.Error(), "client-go@test has ended in the middle of the run: signal: killed") {
		t.Fatalf("killed: %v; the error is %v", killed, err)
	}
	// What is before the step under way is as it was.
	lines, all, same := bytes.Split(cut.Bytes(), []byte("\n")), bytes.Split(whole, []byte("\n")), 0
	for same < min(len(lines), len(all)) && bytes.Equal(lines[same], all[same]) {
		same++
	}
	if same < 5 || len(lines)-same > 4 {
		t.Errorf("of %d lines of the trace, %d are those of the whole run; then comes %s", len(lines), same, lines[same])
	}
	if _, again := trace(t, s, options(t, kind, 1, "")); !bytes.Equal(again, whole) {
		t.Error("the next run is another one")
	}
}

// A guest that spins is a finding after the time that its host allows, and the next run has another guest.
func TestAGuestThatSpins(t *testing.T) {
	g := spinning(t)
	kind := kindOf(g)
	kind.Host = g.Within(100*time.Millisecond, false)
	s, err := scenarios.Parse("spins.sim", []byte("resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1\nsettle\ndelete pods default/a\nsettle\n"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		res, _ := trace(t, s, options(t, kind, 1, ""))
		if v := res.Violation; v == nil || v.Property != property.NoDeadlock || !strings.HasPrefix(v.Message, "a hot loop: ") || !strings.Contains(v.Message, "within 100ms of real time") || v.Step == 0 {
			t.Fatalf("the run broke %+v", v)
		}
	}
}

// spinning returns a guest that spins when a handler is told of a deletion.
func spinning(t *testing.T) *remote.Guest {
	t.Helper()
	path := defective.Build(t, "../guest", "../gates/handler.go", "\th.called(call{sort: Delete, obj: obj})\n", "\tfor {\n\t}\n")
	g := &remote.Guest{Path: path, Name: "client-go@spinning"}
	t.Cleanup(g.Close)
	return g
}

func TestNoGuest(t *testing.T) {
	g := &remote.Guest{Path: t.TempDir() + "/none", Name: "client-go@none"}
	if _, err := scenarios.Run(t.Context(), scenarios.BuiltIn(), options(t, kindOf(g), 1, "")); err == nil || !strings.Contains(err.Error(), "starting client-go@none") {
		t.Errorf("the error is %v", err)
	}
}

// BenchmarkRun measures a run at the other end of a pipe beside the same run in this process.
func BenchmarkRun(b *testing.B) {
	s := scenarios.BuiltIn()
	here := options(b, kindOf(built(b)), 1, "storm")
	there := here
	here.Subject = clientgo.Kind
	for name, o := range map[string]scenarios.Options{"built-in": here, "guest": there} { // order: each is measured alone
		b.Run(name, func(b *testing.B) {
			steps := uint64(0)
			for n := 0; b.Loop(); n++ {
				o.Seed = uint64(n)
				res, err := scenarios.Run(b.Context(), s, o)
				if err != nil {
					b.Fatal(err)
				}
				steps += res.Steps
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
		})
	}
}
