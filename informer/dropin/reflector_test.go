package dropin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

// script answers requests one after the other and records them.
type script struct {
	lists    []any // *v1.PodList or error
	watches  []any // []watch.Event of a stream that then closes, or error; after the last, watches stay open
	requests []string
	panics   bool
}

func (s *script) List(o metav1.ListOptions) (k8sruntime.Object, error) {
	s.requests = append(s.requests, fmt.Sprintf("list rv=%q limit=%d continue=%q", o.ResourceVersion, o.Limit, o.Continue))
	if s.panics {
		panic("list panicked")
	}
	if len(s.lists) == 0 {
		return &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "99"}}, nil
	}
	answer := s.lists[0]
	s.lists = s.lists[1:]
	if err, ok := answer.(error); ok {
		return nil, err
	}
	return answer.(*v1.PodList), nil
}

func (s *script) Watch(o metav1.ListOptions) (watch.Interface, error) {
	s.requests = append(s.requests, fmt.Sprintf("watch rv=%q initial=%v", o.ResourceVersion, o.SendInitialEvents != nil))
	if len(s.watches) == 0 {
		return watch.NewRaceFreeFake(), nil
	}
	answer := s.watches[0]
	s.watches = s.watches[1:]
	if err, ok := answer.(error); ok {
		return nil, err
	}
	w := watch.NewRaceFreeFake()
	for _, e := range answer.([]watch.Event) {
		w.Action(e.Type, e.Object)
	}
	w.Stop()
	return w, nil
}

func podList(rv string, pods ...*v1.Pod) *v1.PodList {
	list := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: rv}}
	for _, p := range pods {
		list.Items = append(list.Items, *p)
	}
	return list
}

func podRV(name, rv string) *v1.Pod {
	p := pod(name)
	p.ResourceVersion = rv
	return p
}

func bookmark(rv string, end bool) watch.Event {
	b := &v1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: rv}}
	if end {
		b.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	return watch.Event{Type: watch.Bookmark, Object: b}
}

func TestReflectorLooksLikeClientGos(t *testing.T) {
	store := NewStore(MetaNamespaceKeyFunc)
	for _, c := range []struct {
		r    *Reflector
		name string
		kind string
	}{
		{NewNamedReflector("named", &script{}, &v1.Pod{}, store, 0), "named", "*v1.Pod"},
		{NewReflectorWithOptions(&script{}, nil, store, ReflectorOptions{Name: "any"}), "any", "<unspecified>"},
		{NewReflectorWithOptions(&script{}, &v1.Pod{}, store, ReflectorOptions{Name: "x", TypeDescription: "described"}), "x", "described"},
	} {
		if c.r.Name() != c.name || c.r.TypeDescription() != c.kind || c.r.LastSyncResourceVersion() != "" {
			t.Errorf("got name %q, type %q, rv %q; want %q, %q, none", c.r.Name(), c.r.TypeDescription(), c.r.LastSyncResourceVersion(), c.name, c.kind)
		}
	}
}

func TestReflectorPropagatesPanics(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		clientfeaturestesting.SetFeatureDuringTest(t, features.WatchListClient, streaming)
		synctest.Test(t, func(t *testing.T) {
			defer func() {
				if r := recover(); fmt.Sprint(r) != "list panicked" {
					t.Errorf("recovered %v", r)
				}
			}()
			s := &script{panics: true, watches: []any{errors.New("no streaming lists here")}}
			_ = NewReflector(s, &v1.Pod{}, NewStore(MetaNamespaceKeyFunc), 0).ListAndWatch(nil)
		})
	}
}

// answersGen generates scripts of answers that cover every course of a round.
var answersGen = rapid.Custom(func(t *rapid.T) *script {
	s := &script{}
	rv := 1
	next := func() string { rv++; return fmt.Sprint(rv) }
	errGen := rapid.SampledFrom([]error{
		errors.New("broken"), apierrors.NewResourceExpired("too old"), apierrors.NewTooManyRequests("busy", 1),
		apierrors.NewInternalError(errors.New("internal")), apierrors.NewTimeoutError("Too large resource version", 1),
	})
	for range rapid.IntRange(0, 4).Draw(t, "lists") {
		if rapid.IntRange(0, 2).Draw(t, "listFails") == 0 {
			s.lists = append(s.lists, errGen.Draw(t, "listError"))
			continue
		}
		list := podList(next(), podRV("a", next()), podRV("b", next()))
		if rapid.IntRange(0, 3).Draw(t, "paged") == 0 {
			list.Continue = "token"
		}
		s.lists = append(s.lists, list)
	}
	for range rapid.IntRange(0, 5).Draw(t, "watches") {
		if rapid.IntRange(0, 2).Draw(t, "watchFails") == 0 {
			s.watches = append(s.watches, errGen.Draw(t, "watchError"))
			continue
		}
		events := []watch.Event{}
		for range rapid.IntRange(0, 4).Draw(t, "events") {
			p := podRV(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), next())
			switch rapid.IntRange(0, 7).Draw(t, "event") {
			case 0, 1:
				events = append(events, watch.Event{Type: watch.Added, Object: p})
			case 2, 3:
				events = append(events, watch.Event{Type: watch.Modified, Object: p})
			case 4:
				events = append(events, watch.Event{Type: watch.Deleted, Object: p})
			case 5:
				events = append(events, bookmark(next(), rapid.Bool().Draw(t, "end")))
			case 6:
				status := apierrors.APIStatus(nil)
				if err := errGen.Draw(t, "event error"); errors.As(err, &status) {
					st := status.Status()
					events = append(events, watch.Event{Type: watch.Error, Object: &st})
				}
			case 7:
				events = append(events, watch.Event{Type: watch.Added, Object: &v1.Node{}})
			}
		}
		s.watches = append(s.watches, events)
	}
	return s
})

// runReflector runs a reflector over a script, for some rounds with ListAndWatch or for a time with Run, and returns a
// transcript.
func runReflector(t *testing.T, s *script, rounds int, newReflector func(lw ListerWatcher, store ReflectorStore) *cache.Reflector) (transcript []string) {
	s = &script{lists: s.lists, watches: s.watches}
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // client-go resyncs in a goroutine of its own
		var store []string
		write := func(line string) error {
			mu.Lock()
			defer mu.Unlock()
			store = append(store, line)
			return nil
		}
		note := func(verb string) func(any) error {
			return func(obj any) error {
				return write(verb + " " + obj.(*v1.Pod).Name + "@" + obj.(*v1.Pod).ResourceVersion)
			}
		}
		r := newReflector(s, &cache.FakeCustomStore{
			AddFunc: note("add"), UpdateFunc: note("update"), DeleteFunc: note("delete"),
			ReplaceFunc: func(list []any, rv string) error {
				return write(fmt.Sprintf("replace %d@%s", len(list), rv))
			},
			ResyncFunc: func() error { return write("resync") },
		})
		for range rounds {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			err := r.ListAndWatchWithContext(ctx)
			cancel()
			transcript = append(transcript, fmt.Sprintf("round: error %v rv=%q", err, r.LastSyncResourceVersion()))
		}
		transcript = append(append(transcript, store...), s.requests...)
	})
	return transcript
}

// TestDifferentialReflectors gives client-go's reflector and ours the same answers and compares their requests, writes, the
// results of their rounds, and their final resourceVersions.
func TestDifferentialReflectors(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		t.Run(fmt.Sprintf("streaming=%v", streaming), func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, features.WatchListClient, streaming)
			rapid.Check(t, func(rt *rapid.T) {
				s := answersGen.Draw(rt, "answers")
				rounds := rapid.IntRange(1, 4).Draw(rt, "rounds")
				retry := rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(rt, "retry")
				resync := rapid.SampledFrom([]time.Duration{0, 25 * time.Second}).Draw(rt, "resync")
				// Without jitter, which would decide how many resyncs there are before a round ends.
				options := func() ReflectorOptions {
					return ReflectorOptions{Name: "r", ResyncPeriod: resync, Backoff: &wait.Backoff{Duration: 800 * time.Millisecond, Cap: 30 * time.Second, Steps: 7, Factor: 2}}
				}
				want := runReflector(t, s, rounds, func(lw ListerWatcher, store ReflectorStore) *cache.Reflector {
					r := cache.NewReflectorWithOptions(lw, &v1.Pod{}, store, options())
					r.MaxInternalErrorRetryDuration = retry
					return r
				})
				got := runReflector(t, s, rounds, func(lw ListerWatcher, store ReflectorStore) *cache.Reflector {
					r := NewReflectorWithOptions(lw, &v1.Pod{}, store, options())
					r.MaxInternalErrorRetryDuration = retry
					return r
				})
				if a, b := strings.Join(want, "\n"), strings.Join(got, "\n"); a != b {
					rt.Fatalf("client-go\n%s\nours\n%s", a, b)
				}
			})
		})
	}
}
