package wellbehaved

import (
	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// anew follows what controllers are told since the run has their informers list anew, and restarts them if that shows nothing.
type anew struct {
	told  map[sim.ActorID]reports.Evidence // the last that a client was told since then
	begun map[sim.ActorID]bool             // whose process the run has restarted since then
}

func newAnew() anew { return anew{map[sim.ActorID]reports.Evidence{}, map[sim.ActorID]bool{}} }

// record takes in pages, frames and the lives of processes, and reports whether informers list anew.
func (a *anew) record(w property.World, r *sim.Record, o *Options) bool {
	if !o.ListsAnew() {
		clear(a.told)
		clear(a.begun)
		return false
	}
	switch r.Kind {
	case fakeapiserver.KindPage, fakeapiserver.KindFrame:
		if r.Detail == "BOOKMARK" {
			break // no handler is told
		}
		why := "whose watches the run has ended"
		if a.begun[r.Actor] {
			why = "which the run has restarted"
		}
		a.told[r.Actor] = reports.Because(r, "%s, %s, is told anew of what there is", clientName(w, r.Actor), why)
	case o.Restarts:
		if client, ok := clientOf(w, r); ok {
			a.begun[client] = true
			delete(a.told, client)
		}
	}
	return true
}

// justTold returns what a write may answer to: what its sender was told just before it sent that.
func (a *anew) justTold(x *write) (told reports.Evidence, is bool) {
	told, is = a.told[x.client]
	return told, is && x.request.At >= told.At && x.request.At <= told.At+prompt
}

// onlyWhen says when a controller has done what it should have done before.
func (a *anew) onlyWhen(client sim.ActorID) string {
	if a.begun[client] {
		return "it is restarted, and not when its informers have listed anew, since the run had ended their watches"
	}
	return "its informers have listed anew, since the run has ended their watches"
}
