package properties

import (
	"context"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
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
					if r.Kind == fakeapiserver.KindRequest && r.At == 0 && askedFor(r.Detail) == askStream {
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
