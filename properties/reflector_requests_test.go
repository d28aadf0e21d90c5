package properties

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/kinds"
)

// refusedStreams is a server that refuses streaming lists for a while.
const refusedStreams = `resource pods
create pods default/a
informer i1 pods handlers=h1 watch-list=on
fault i1 watch-open=too-large count=10
settle
advance 1s
expect i1 converged
`

// k140890: client-go opens a streaming list that is refused again at once, eleven times in no time at all. BackoffHonoured exempts
// that; without the exemption it is what the property finds, on the stack and on unmodified client-go.
func TestK140890StreamingListsAgainAtOnce(t *testing.T) {
	for _, kind := range kinds.All() {
		for _, strict := range []bool{false, true} {
			streams := 0
			p := BackoffHonoured
			p.New = func() Checker {
				b := newBackoffHonoured()
				b.requests.strict = strict
				return Checker{Record: func(w World, r *sim.Record) *reports.Violation {
					if kind, _ := askedFor(r); kind == askStream && r.At == 0 {
						streams++
					}
					return b.record(w, r)
				}}
			}
			s, err := scenarios.Parse("refused.sim", []byte(refusedStreams))
			if err != nil {
				t.Fatal(err)
			}
			res, err := scenarios.Run(context.Background(), s, scenarios.Options{Subject: kind, Seed: 1, Properties: []Property{p}})
			if err != nil {
				t.Fatal(err)
			}
			switch v := res.Violation; {
			case !strict && (!res.Passed() || streams != 11):
				t.Errorf("%s: %s, %d streaming lists at once, want 11: %v", kind.Name, res.Verdict(), streams, res.Mismatches)
			case strict && (v == nil || v.Property != p.Name || !strings.Contains(v.Message, "0s after a failure") || len(v.Because) != 2):
				t.Errorf("%s: without the exemption: %v", kind.Name, v)
			}
		}
	}
}

// What is judged of a release that lacks something is strict, too.
func TestK140890OfOlderReleases(t *testing.T) {
	for _, lacks := range [][]subjects.Feature{{subjects.BackoffResets}, {subjects.BackoffResets, subjects.OneBackoff}} {
		kind := clientgo.Kind
		kind.Lacks = map[subjects.Feature]string{}
		for _, f := range lacks {
			kind.Lacks[f] = "for this test"
		}
		s, err := scenarios.Parse("refused.sim", []byte(refusedStreams))
		if err != nil {
			t.Fatal(err)
		}
		for _, strict := range []bool{false, true} {
			all := All()
			if strict {
				all = WithoutExemptions()
			}
			res, err := scenarios.Run(context.Background(), s, scenarios.Options{Subject: kind, Seed: 1, Properties: all})
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]string{false: "pass", true: BackoffHonoured.Name}[strict]; res.Verdict() != want {
				t.Errorf("without %v, strict=%t: %s, want %s", lacks, strict, res.Verdict(), want)
			}
		}
	}
}

// Before v0.28 watches that are refused wait by a backoff of their own: neither lengthens the other (docs/releases.md).
func TestRefusedWatchesMayHaveABackoffOfTheirOwn(t *testing.T) {
	refused := &url.Error{Op: "Get", Err: syscall.ECONNREFUSED}
	for _, of := range []struct {
		two  bool
		want []time.Duration
	}{
		{false, []time.Duration{800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond, 6400 * time.Millisecond}},
		{true, []time.Duration{800 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond, 1600 * time.Millisecond}},
	} {
		p := reflectorRequests{two: of.two}
		c := &reflector{began: true, backoff: newReflectorBackoff(0), opening: newReflectorBackoff(0)}
		var got []time.Duration
		for second := range 4 {
			from := reason{at: time.Duration(second) * time.Second}
			if second%2 == 0 {
				c.kind = askWatch
				p.watchFailed(c, refused, from)
			} else {
				c.kind = askList
				c.listFailed(apierrors.NewInternalError(errors.New("etcd")), from)
			}
			got = append(got, c.next.backoff)
		}
		if !slices.Equal(got, of.want) {
			t.Errorf("two backoffs: %v: a refused watch, a list, a watch and a list wait %v, want %v", of.two, got, of.want)
		}
	}
}

// What a release has decides how it is judged.
func TestBackoffHonouredOfAReleaseWithTwoBackoffs(t *testing.T) {
	since := map[subjects.Feature]string{subjects.BackoffResets: "since v0.36", subjects.OneBackoff: "since v0.28"}
	can, not := property.Judged([]Property{BackoffHonoured}, since)
	if len(can) != 1 || len(not) != 2 {
		t.Fatalf("%d properties are judged, and %v are not", len(can), not)
	}
	if c := can[0].New(); c.StepEnd != nil || c.Record == nil {
		t.Error("how long an informer waits at most is judged")
	}
}
