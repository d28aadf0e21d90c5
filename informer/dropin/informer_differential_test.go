package dropin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
	"pgregory.net/rapid"
)

// gateSets are the sets of feature gates that select an informer's queue, how it is read, and whether lists are streamed.
var gateSets = []struct {
	name string
	off  []features.Feature
}{
	{"default", nil},
	{"noBatch", []features.Feature{features.InOrderInformersBatchProcess}},
	{"noUnlock", []features.Feature{features.UnlockWhileProcessingFIFO}},
	{"noAtomic", []features.Feature{features.AtomicFIFO, features.UnlockWhileProcessingFIFO}},
	{"noInOrder", []features.Feature{features.InOrderInformers, features.InOrderInformersBatchProcess, features.AtomicFIFO, features.UnlockWhileProcessingFIFO}},
	{"noWatchList", []features.Feature{features.WatchListClient}},
}

// serverOp is an operation on the server or on the informer's connection or handlers.
type serverOp struct {
	kind string
	name string
}

func (o serverOp) String() string { return strings.TrimSpace(o.kind + " " + o.name) }

var serverOpGen = rapid.Custom(func(t *rapid.T) serverOp {
	kinds := []string{"add", "add", "modify", "modify", "delete", "missedDelete", "cut", "wait", "resync", "handler", "removeHandler"}
	o := serverOp{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	switch o.kind {
	case "add", "modify", "delete", "missedDelete":
		o.name = rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")
	}
	return o
})

// runOps runs an informer over the ops in a bubble. After each it waits until the bubble is quiescent, so that the handler
// calls in between form one step; within a step the order across objects is not compared.
func runOps(t *testing.T, ops []serverOp, newInformer func(lw ListerWatcher) SharedIndexInformer) (transcript []string) {
	synctest.Test(t, func(t *testing.T) {
		source := fcache.NewFakeControllerSource()
		informer := newInformer(source)
		var handlers []*recorder
		var registrations []ResourceEventHandlerRegistration
		addHandler := func() {
			h := &recorder{}
			r, err := informer.AddEventHandlerWithResyncPeriod(h, 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			handlers, registrations = append(handlers, h), append(registrations, r)
		}
		addHandler()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			informer.RunWithContext(ctx)
		}()
		existing := map[string]bool{}
		for _, o := range ops {
			synctest.Wait()
			switch o.kind {
			case "add":
				if !existing[o.name] {
					source.Add(pod(o.name))
					existing[o.name] = true
				}
			case "modify":
				if existing[o.name] {
					source.Modify(pod(o.name))
				}
			case "delete", "missedDelete":
				if !existing[o.name] {
					break
				}
				delete(existing, o.name)
				if o.kind == "delete" {
					source.Delete(pod(o.name))
				} else {
					source.DeleteDropWatch(pod(o.name))
				}
			case "cut":
				source.ResetWatch()
			case "wait":
				time.Sleep(time.Minute)
			case "resync":
				time.Sleep(5 * time.Second)
			case "handler":
				addHandler()
			case "removeHandler":
				if n := len(registrations); n > 1 {
					if err := informer.RemoveEventHandler(registrations[n-1]); err != nil {
						t.Fatal(err)
					}
				}
			}
			synctest.Wait()
			line := o.String() + ":"
			for i, h := range handlers {
				calls := h.take()
				slices.Sort(calls)
				line += fmt.Sprintf(" h%d%v synced=%v", i, calls, registrations[i].HasSynced())
			}
			keys := informer.GetStore().ListKeys()
			slices.Sort(keys)
			line += fmt.Sprintf(" store=%v rv=%s storeRV=%s synced=%v", keys, informer.LastSyncResourceVersion(),
				informer.GetStore().LastStoreSyncResourceVersion(), informer.HasSynced())
			transcript = append(transcript, line)
		}
		cancel()
		<-done
		source.Shutdown()
	})
	return transcript
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// TestDifferentialInformers runs client-go's shared informer and ours over the same server with the same faults, for each
// set of feature gates, and compares every handler's calls, the stores, and the resourceVersions after each step.
func TestDifferentialInformers(t *testing.T) {
	for _, gates := range gateSets {
		t.Run(gates.name, func(t *testing.T) {
			for _, gate := range gates.off {
				clientfeaturestesting.SetFeatureDuringTest(t, gate, false)
			}
			rapid.Check(t, func(rt *rapid.T) {
				ops := rapid.SliceOfN(serverOpGen, 1, 25).Draw(rt, "ops")
				want := runOps(t, ops, func(lw ListerWatcher) SharedIndexInformer {
					return cache.NewSharedIndexInformer(lw, &v1.Pod{}, 10*time.Second, byNamespace())
				})
				got := runOps(t, ops, func(lw ListerWatcher) SharedIndexInformer {
					return NewSharedIndexInformer(lw, &v1.Pod{}, 10*time.Second, byNamespace())
				})
				for i := range want {
					if want[i] != got[i] {
						rt.Fatalf("step %d of %v\nclient-go %s\nours      %s", i, ops, want[i], got[i])
					}
				}
			})
		})
	}
}
