package informer

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/klog/v2"
)

// mutationDetectorEnabled is decided once, as in client-go: the detector is for test runs.
var mutationDetectorEnabled, _ = strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR"))

const (
	mutationComparePeriod = time.Second
	mutationRetainPeriod  = 2 * time.Minute
)

// NewCacheMutationDetector makes a detector that watches objects for being changed, and panics when one was (I90). It does
// nothing unless KUBE_CACHE_MUTATION_DETECTOR was true when the program started: it needs a copy of every object.
func NewCacheMutationDetector(name string) MutationDetector {
	if !mutationDetectorEnabled {
		return noMutationDetector{}
	}
	klog.Background().Info("Warning: the mutation detector is enabled, which keeps copies of all objects", "name", name)
	return newMutationDetector(name, func(message string) { panic(message) })
}

type noMutationDetector struct{}

func (noMutationDetector) AddObject(any)       {}
func (noMutationDetector) Run(<-chan struct{}) {}

// mutationDetector compares objects with copies it made of them: every second, for two to four minutes each (I90).
type mutationDetector struct {
	name string
	fail func(message string)

	addedMu sync.Mutex
	added   []mutationWitness

	// Used by Run only.
	recent   []mutationWitness // since the last rotation
	retained []mutationWitness // of the two minutes before
	rotated  time.Time
}

type mutationWitness struct{ object, copy runtime.Object }

func newMutationDetector(name string, fail func(message string)) *mutationDetector {
	return &mutationDetector{name: name, fail: fail}
}

// AddObject begins to watch an object. Tombstones and what cannot be copied are not watched.
func (d *mutationDetector) AddObject(obj any) {
	object, ok := obj.(runtime.Object)
	if !ok {
		return
	}
	witness := mutationWitness{object, object.DeepCopyObject()}
	d.addedMu.Lock()
	defer d.addedMu.Unlock()
	d.added = append(d.added, witness)
}

// Run compares until stopCh is closed. It does not recover from its own panic: the program's results cannot be trusted.
func (d *mutationDetector) Run(stopCh <-chan struct{}) {
	d.rotated = time.Now()
	ticker := time.NewTicker(mutationComparePeriod)
	defer ticker.Stop()
	for {
		d.compare(time.Now())
		select {
		case <-stopCh:
			return
		case <-ticker.C:
		}
	}
}

func (d *mutationDetector) compare(now time.Time) {
	if now.Sub(d.rotated) > mutationRetainPeriod {
		d.retained, d.recent, d.rotated = d.recent, nil, now
	}
	d.addedMu.Lock()
	d.recent = append(d.recent, d.added...)
	d.added = nil
	d.addedMu.Unlock()

	altered := false
	for _, witnesses := range [][]mutationWitness{d.recent, d.retained} {
		for _, w := range witnesses {
			if !reflect.DeepEqual(w.object, w.copy) {
				fmt.Printf("CACHE %s ALTERED!\n%s\n", d.name, mutationDiff(w))
				altered = true
			}
		}
	}
	if altered {
		d.fail(fmt.Sprintf("cache %s modified: an object that belongs to an informer's store was changed in place", d.name))
	}
}

// mutationDiff falls back to both objects whole where the diff refuses (unexported fields).
func mutationDiff(w mutationWitness) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("was %#v\nis  %#v", w.copy, w.object)
		}
	}()
	return diff.Diff(w.copy, w.object)
}
