package properties

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// BoundedRelists checks that each list has a reason.
var BoundedRelists = Property{
	Name: "BoundedRelists",
	Statement: "an informer lists when it starts, and when a list or a watch has failed in a way that a watch cannot mend; " +
		"each failure explains one list, and a second one if the resourceVersion is gone",
	Kinds: requestKinds,
	New: func() Checker {
		p := &boundedRelists{}
		return Checker{Record: p.record}
	},
}

// boundedRelists compares each list with what the answers before it allow. A watch where a list is due is no load that a list would
// not be; what comes of it is for other properties to judge.
type boundedRelists struct{ requests reflectorRequests }

func (p *boundedRelists) record(w World, r *sim.Record) *reports.Violation {
	if r.Kind != fakeapiserver.KindRequest {
		p.requests.answer(w, r)
		return nil
	}
	c, before, ok := p.requests.request(r)
	if !ok || c.kind == askWatch || before.resend == r.Detail || before.what&c.kind != 0 {
		return nil
	}
	name := w.Kernel().ActorName(r.Actor)
	v := &reports.Violation{Because: append(before.after.because(), reports.Because(r, "but %s asks for %s: %s", name, c.kind, r.Detail))}
	switch {
	case before.resend != "":
		v.Message = fmt.Sprintf("%s asks for %s, although its client would send the last request again: %s", name, c.kind, before.resend)
	case before.what == 0:
		v.Message = fmt.Sprintf("%s asks for %s, although nothing has gone wrong with its last request", name, c.kind)
	default:
		v.Message = fmt.Sprintf("%s asks for %s, although %s would do", name, c.kind, before.what)
	}
	return v
}
