package library

import (
	"fmt"
	"testing"
	"testing/synctest"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/features"
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
					for _, o := range Check(turn, synctest.Wait) {
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
