package mutants

import (
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// serverMutants are defects of the server: the stack has none.
func serverMutants() []Mutant {
	every := func(n int, what func(last, e fakeapiserver.Event) []fakeapiserver.Event) func() fakeapiserver.Distortion {
		return func() fakeapiserver.Distortion {
			seen, last := 0, fakeapiserver.Event{}
			return fakeapiserver.Distortion{Event: func(_ string, e fakeapiserver.Event) []fakeapiserver.Event {
				before := last
				if e.Type == watch.Error || e.Type == watch.Bookmark {
					return []fakeapiserver.Event{e}
				}
				last = e
				if seen++; seen%n != 0 {
					return []fakeapiserver.Event{e}
				}
				return what(before, e)
			}}
		}
	}
	return []Mutant{
		{
			Name: "server-sends-twice", Defect: "the server sends every third event twice",
			Property: "WatchUnique", Scenario: "queued_updates", Kind: distorted(every(3, func(_, e fakeapiserver.Event) []fakeapiserver.Event { return []fakeapiserver.Event{e, e} })),
		}, {
			Name: "server-goes-back", Defect: "the server sends an earlier event again after every third (k73845)",
			Property: "WatchOrdered", Or: "ListIsAtOneRevision", OrBecause: "the earlier event may be one of a streaming list", Scenario: "queued_updates",
			Kind: distorted(every(3, func(last, e fakeapiserver.Event) []fakeapiserver.Event { return []fakeapiserver.Event{e, last} })),
		}, {
			Name: "server-drops-events", Defect: "the server leaves out every third event",
			Property: "WatchReliable", Or: "IndexerConverges, WatchFilter, ListIsAtOneRevision", OrBecause: "it may be an event of a selection, or of a streaming list",
			Scenario: "queued_updates", Kind: distorted(every(3, func(_, _ fakeapiserver.Event) []fakeapiserver.Event { return nil })),
		}, {
			Name: "server-lists-too-little", Defect: "the last object of a list, or of a page, is missing",
			Property: "ListIsAtOneRevision", Scenario: "watch_410",
			Kind: distorted(func() fakeapiserver.Distortion {
				return fakeapiserver.Distortion{Page: func(p *fakeapiserver.Page) {
					if n := len(p.Items); n > 1 {
						p.Items, p.Keys = p.Items[:n-1], p.Keys[:n-1]
					}
				}}
			}),
		}, {
			Name: "server-forgets-deadlines", Defect: "a watch lasts an hour longer than its client asked for",
			Property: "WatchDeadlines", Scenario: "watch_timeout",
			Kind: distorted(func() fakeapiserver.Distortion {
				return fakeapiserver.Distortion{Lifetime: func(d time.Duration) time.Duration { return d + time.Hour }}
			}),
		},
	}
}

// distorted returns the stack with a server that has a defect.
func distorted(how func() fakeapiserver.Distortion) subjects.Kind {
	kind := stack.Kind
	kind.New = func(deps subjects.Dependencies) subjects.Subject {
		deps.Cluster.Distort(how())
		return stack.Kind.New(deps)
	}
	return kind
}
