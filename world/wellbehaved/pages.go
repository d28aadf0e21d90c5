package wellbehaved

import (
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// pages follows who has listed a resource in pages, and has not asked for the next one.
type pages struct {
	asked map[sentBy]string           // lists in flight: their plurals
	cut   map[paged]*reports.Evidence // the last page of a client's that said that there are more, and that no request for the next one has followed
}

// paged is a client's name, and a resource.
type paged struct{ client, plural string }

func newPages() pages { return pages{map[sentBy]string{}, map[paged]*reports.Evidence{}} }

func (s *pages) record(w property.World, r *sim.Record) {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if strings.HasPrefix(r.Detail, "list") {
			plural := pluralOf(strings.Clone(r.Key))
			s.asked[sentBy{r.Actor, r.N}] = plural
			if strings.Contains(r.Detail, " continue=") {
				delete(s.cut, paged{clientName(w, r.Actor), plural})
			}
		}
	case fakeapiserver.KindPage:
		page, is := r.Obj.(*fakeapiserver.Page)
		if plural := s.asked[pageOf(r)]; is && plural != "" && page.Continue != "" && len(page.Items) > 1 { // who asks for one wants to know whether there is any
			client := clientName(w, r.Actor)
			e := reports.Because(r, "%s has listed %d %s, is told that there are more, and does not ask for them", client, len(page.Items), plural)
			s.cut[paged{client, plural}] = &e
		}
		delete(s.asked, pageOf(r))
	case fakeapiserver.KindResponse:
		delete(s.asked, sentBy{r.Actor, r.N})
	}
}
