package api

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// world is a run without a stack.
type world struct {
	property.World
	kernel  *sim.Kernel
	cluster *fakeapiserver.Cluster
}

func (w *world) Kernel() *sim.Kernel             { return w.kernel }
func (w *world) Cluster() *fakeapiserver.Cluster { return w.cluster }

type client struct{}

func (client) Name() string     { return "conn/c" }
func (client) Apply(sim.Choice) {}

// Records of servers that answer wrongly, as ours never does.
func TestServersThatAreWrong(t *testing.T) {
	request := func(n int64, a fakeapiserver.Asked) sim.Record {
		return sim.Record{Kind: fakeapiserver.KindRequest, Key: "pods", N: n, Obj: &a}
	}
	list := func(n int64, from string) sim.Record {
		return request(n, fakeapiserver.Asked{Continue: from, Options: &metav1.ListOptions{Limit: 1}})
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
	applied := func(rv int64) sim.Record {
		return sim.Record{Kind: fakeapiserver.KindApply, Key: "pods default/a", RV: rv, Detail: "MODIFIED"}
	}
	opened := sim.Record{Kind: fakeapiserver.KindResponse, N: 1, Detail: "ok"}
	watch := request(1, fakeapiserver.Asked{Watch: true, Options: &metav1.ListOptions{ResourceVersion: "5", AllowWatchBookmarks: true, TimeoutSeconds: new(int64(400))}})
	for _, test := range []struct {
		property, message string
		records           []sim.Record
	}{
		{"", "", []sim.Record{watch, commit(6), commit(7), frame(1, 6, "MODIFIED"), frame(1, 7, "MODIFIED"), frame(1, 7, "BOOKMARK")}},
		{"WatchOrdered", "a MODIFIED at rv=6 follows rv=7", []sim.Record{watch, frame(1, 7, "MODIFIED"), frame(1, 6, "MODIFIED")}},
		{"WatchOrdered", "a BOOKMARK at rv=6 follows rv=7", []sim.Record{watch, frame(1, 7, "MODIFIED"), frame(1, 6, "BOOKMARK")}},
		{"WatchUnique", "the MODIFIED at rv=7 comes although the watch has been there", []sim.Record{watch, frame(1, 7, "MODIFIED"), frame(1, 7, "MODIFIED")}},
		{"WatchReliable", "the change of default/a at rv=6 is missing", []sim.Record{watch, commit(6), commit(7), frame(1, 7, "MODIFIED")}},
		{"", "", []sim.Record{watch, opened, commit(6), applied(6), commit(7), frame(1, 6, "MODIFIED")}},
		{"WatchReliable", "the change of default/a at rv=6, and nothing else is left", []sim.Record{watch, opened, commit(6), applied(6), commit(7)}},
		{"ListIsAtOneRevision", "a page is at rv=4, and the list began at rv=3", []sim.Record{
			list(1, ""), page("request=1 more", fakeapiserver.Page{Revision: 3, ResourceVersion: "3", Continue: "x"}),
			list(2, "3:default/a"), page("request=2", fakeapiserver.Page{Revision: 4, ResourceVersion: "4"}),
		}},
		{"", "", []sim.Record{
			list(1, ""), page("request=1 more", fakeapiserver.Page{Revision: 3, ResourceVersion: "3", Continue: "x"}),
			list(2, "3:default/a"), page("request=2", fakeapiserver.Page{Revision: 3, ResourceVersion: "3"}),
			list(3, "current:default/a"), page("request=3", fakeapiserver.Page{Revision: 9, ResourceVersion: "9"}),
		}},
	} {
		k := sim.NewKernel(sim.Options{Strategy: sim.NewFIFO()})
		w := &world{kernel: k, cluster: fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})}
		id := k.Register(client{})
		monitor := property.NewMonitor(w, All(Options{}))
		for _, r := range test.records {
			r.Actor = id
			monitor.Record(&r)
		}
		monitor.StepEnd(nil)
		switch found := monitor.Violation(); {
		case test.property == "" && found != nil:
			t.Errorf("a correct server is reported: %v", found)
		case test.property == "":
		case found == nil || found.Property != test.property || !strings.Contains(found.Message, test.message):
			t.Errorf("%s, %s: found %v", test.property, test.message, found)
		}
	}
}
