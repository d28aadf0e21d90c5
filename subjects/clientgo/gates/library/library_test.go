package library

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// variant is a combination of gates.
type variant map[features.Feature]bool

// Enabled implements features.Gates.
func (v variant) Enabled(key features.Feature) bool { return v[key] }

// TestLibraryAgrees makes all checks of client-go as it is, with several draws each, for each of its queues. What checks except by name must come of them:
// what upstream has mended is no exception any more.
func TestLibraryAgrees(t *testing.T) {
	before, handlers, log := features.FeatureGates(), utilruntime.ErrorHandlers, klog.CaptureState()
	defer func() {
		features.ReplaceFeatureGates(before)
		utilruntime.ErrorHandlers = handlers
		log.Restore()
	}()
	utilruntime.ErrorHandlers = nil // they wait
	klog.SetLogger(klog.Logger{})
	for name, of := range map[string]variant{ // the order does not matter to tests
		"delta":           {features.AtomicFIFO: true},
		"before":          {},
		"in order":        {features.InOrderInformers: true},
		"in batches":      {features.InOrderInformers: true, features.InOrderInformersBatchProcess: true},
		"atomic":          {features.InOrderInformers: true, features.InOrderInformersBatchProcess: true, features.AtomicFIFO: true, features.UnlockWhileProcessingFIFO: true},
		"atomic, locking": {features.InOrderInformers: true, features.InOrderInformersBatchProcess: true, features.AtomicFIFO: true},
	} {
		of[features.WatchListClient] = true
		t.Run(name, func(t *testing.T) {
			features.ReplaceFeatureGates(of)
			excepted := map[string]bool{}
			for turn := range uint64(50 * Parts) {
				synctest.Test(t, func(t *testing.T) {
					for _, o := range Check(turn, 37, synctest.Wait) {
						if excepted[o.Exempt] = true; o.Exempt == "" {
							t.Errorf("turn %d: %s: %s, want %s", turn, o.Call, o.Got, o.Want)
						}
					}
				})
			}
			if !excepted["k141079"] {
				t.Error("client-go no longer has k141079: its exception can go")
			}
		})
	}
}

// What a release does otherwise is expected of it, and of no other: v0.37 is not what the model of v0.38 says.
func TestModelsOfReleasesDiffer(t *testing.T) {
	before := features.FeatureGates()
	defer features.ReplaceFeatureGates(before)
	features.ReplaceFeatureGates(variant{features.InOrderInformers: true, features.InOrderInformersBatchProcess: true, features.WatchListClient: true})
	wrong := map[string]bool{}
	for turn := range uint64(50 * Parts) {
		if part := Part(turn); part != "MutationCache" && part != "a queue that is processing an object" {
			continue
		}
		synctest.Test(t, func(*testing.T) {
			for _, o := range Check(turn, 38, synctest.Wait) {
				call, _, _ := strings.Cut(o.Call, " objects come at once")
				wrong[call] = wrong[call] || o.Exempt == ""
			}
		})
	}
	for _, call := range []string{
		"MutationCache: what ByIndex finds beside an object that is deleted meanwhile", "a queue that is processing an object: Pop of a RealFIFO", "a queue that is processing an object: how many of 4",
	} {
		if !wrong[call] {
			t.Errorf("the model of v0.38 says the same of %q as that of v0.37; differences are %v", call, slices.Sorted(maps.Keys(wrong)))
		}
	}
}

// TestCheckTellsOnce says how a check reads: the first call that was wrong, of which part, what the model says, and what came before.
func TestCheckTellsOnce(t *testing.T) {
	c := &check{part: "Heap"}
	c.is("List", []string{"a@1"}, []string{"a@1"})
	c.is("Pop", "a@1", "b@2")
	c.refused("Add", nil)
	if got, want := fmt.Sprint(c.wrong), "[{Heap: Pop a@1 b@2  [List: [a@1]]}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// refusedOnce is a store that refuses a streaming list, and remembers by which watch that came.
type refusedOnce struct {
	cache.Store
	from *stream
	by   *watch.FakeWatcher
}

// Replace implements cache.ReflectorStore.
func (s *refusedOnce) Replace(list []any, resourceVersion string) error {
	if s.by == nil {
		s.by = s.from.watch
		return errRefused
	}
	return s.Store.Replace(list, resourceVersion)
}

// TestI119RefusedStreamStaysOpen has client-go, as it is, leave the watch open by which a list has come that its store refuses. Once upstream stops it, this is
// for a check to say.
func TestI119RefusedStreamStaysOpen(t *testing.T) {
	before := features.FeatureGates()
	defer features.ReplaceFeatureGates(before)
	features.ReplaceFeatureGates(variant{features.WatchListClient: true})
	synctest.Test(t, func(t *testing.T) {
		from := &stream{end: 5}
		from.list = &metav1.PartialObjectMetadataList{}
		from.list.ResourceVersion = "5"
		s := &refusedOnce{Store: cache.NewStore(cache.MetaNamespaceKeyFunc), from: from}
		r := cache.NewReflectorWithOptions(from, &metav1.PartialObjectMetadata{}, s, cache.ReflectorOptions{Name: "r"})
		ctx, cancel := context.WithCancel(silent)
		go r.RunWithContext(ctx)
		synctest.Wait()
		cancel()
		synctest.Wait()
		if s.by == nil || s.by == from.watch || !from.watch.IsStopped() {
			t.Fatal("the reflector has not streamed a list that its store refused, or not gone on to watch and stopped that")
		}
		if s.by.IsStopped() {
			t.Error("client-go stops the watch of a streaming list that its store has refused: I119 no longer holds")
		}
	})
}
