package world

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

type client struct{}

func (client) Name() string     { return "conn/c" }
func (client) Apply(sim.Choice) {}

// Records of servers that answer wrongly, as ours never does.
func TestServersThatAreWrong(t *testing.T) {
	request := func(n int64, detail string) sim.Record {
		return sim.Record{Kind: fakeapiserver.KindRequest, Key: "pods", N: n, Detail: detail}
	}
	frame := func(n, rv int64, detail string) sim.Record {
		return sim.Record{Kind: fakeapiserver.KindFrame, Key: "pods default/a", N: n, RV: rv, Detail: detail}
	}
	commit := func(rv int64) sim.Record {
		return sim.Record{Kind: fakeapiserver.KindCommit, Key: "pods default/a", RV: rv, Detail: "MODIFIED"}
	}
	page := func(detail string, p fakeapiserver.Page) sim.Record {
		return sim.Record{Kind: fakeapiserver.KindPage, Detail: detail, RV: p.Revision, Obj: &p}
	}
	watch := request(1, `watch rv="5" bookmarks timeout=400`)
	for _, test := range []struct {
		property, message string
		records           []sim.Record
	}{
		{"", "", []sim.Record{watch, commit(6), commit(7), frame(1, 6, "MODIFIED"), frame(1, 7, "MODIFIED"), frame(1, 7, "BOOKMARK")}},
		{"WatchOrdered", "an event at 6 follows one at 7", []sim.Record{watch, frame(1, 7, "MODIFIED"), frame(1, 6, "MODIFIED")}},
		{"WatchOrdered", "a bookmark at 6 follows an event at 7", []sim.Record{watch, frame(1, 7, "MODIFIED"), frame(1, 6, "BOOKMARK")}},
		{"WatchUnique", "the event at 7 comes twice", []sim.Record{watch, frame(1, 7, "MODIFIED"), frame(1, 7, "MODIFIED")}},
		{"WatchReliable", "the one at 6 is missing", []sim.Record{watch, commit(6), commit(7), frame(1, 7, "MODIFIED")}},
		{"ListIsAtOneRevision", "a page is at 4, and the list began at 3", []sim.Record{
			request(1, `list rv="" limit=1`), page("request=1 more", fakeapiserver.Page{Revision: 3, ResourceVersion: "3", Continue: "x"}),
			request(2, `list continue=3:default/a rv="" limit=1`), page("request=2", fakeapiserver.Page{Revision: 4, ResourceVersion: "4"}),
		}},
		{"", "", []sim.Record{
			request(1, `list rv="" limit=1`), page("request=1 more", fakeapiserver.Page{Revision: 3, ResourceVersion: "3", Continue: "x"}),
			request(2, `list continue=3:default/a rv="" limit=1`), page("request=2", fakeapiserver.Page{Revision: 3, ResourceVersion: "3"}),
			request(3, `list continue=current:default/a rv="" limit=1`), page("request=3", fakeapiserver.Page{Revision: 9, ResourceVersion: "9"}),
		}},
	} {
		w := &world{kernel: sim.NewKernel(sim.Options{Strategy: sim.NewFIFO()})}
		w.helpers = w.kernel.Register(&gate{})
		id := w.kernel.Register(client{})
		w.monitor = property.NewMonitor(w, []property.Property{apiProperties(w)})
		for _, r := range test.records {
			r.Actor = id
			w.monitor.Record(&r)
		}
		switch found := w.monitor.Violation(); {
		case test.property == "" && found != nil:
			t.Errorf("a correct server is reported: %v", found)
		case test.property == "":
		case found == nil || found.Property != test.property || !strings.Contains(found.Message, test.message):
			t.Errorf("%s, %s: found %v", test.property, test.message, found)
		}
	}
}
