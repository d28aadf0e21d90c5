package dropin

import (
	"os"
	"strconv"
	"sync"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/informersim/informersim/informer"
)

// mutationDetectorEnabled is set once, as in client-go: the detector is for test runs.
var mutationDetectorEnabled, _ = strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR"))

// NewCacheMutationDetector returns a detector that panics when a tracked object was changed (I90). It does nothing unless
// KUBE_CACHE_MUTATION_DETECTOR was true when the program started, as it needs a copy of every object.
func NewCacheMutationDetector(name string) MutationDetector {
	if !mutationDetectorEnabled {
		return noMutationDetector{}
	}
	klog.Background().Info("Warning: the mutation detector is enabled, which keeps copies of all objects", "name", name)
	return newMutationDetector(name, clock.RealClock{}, func(err error) { panic(err.Error()) })
}

type noMutationDetector struct{}

func (noMutationDetector) AddObject(any)       {}
func (noMutationDetector) Run(<-chan struct{}) {}

// mutationDetector is informer's MutationDetector behind a lock, checked on its schedule.
type mutationDetector struct {
	clock clock.Clock
	fail  func(error)

	mu   sync.Mutex
	core informer.MutationDetector
}

func newMutationDetector(name string, clock clock.Clock, fail func(error)) *mutationDetector {
	return &mutationDetector{clock: clock, fail: fail, core: informer.MutationDetector{Name: name}}
}

// AddObject starts tracking an object.
func (d *mutationDetector) AddObject(obj any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.core.AddObject(obj)
}

// Run compares until stopCh is closed. It does not recover from the panic: the program's results cannot be trusted.
func (d *mutationDetector) Run(stopCh <-chan struct{}) {
	for {
		timer := d.clock.NewTimer(d.check())
		select {
		case <-stopCh:
			timer.Stop()
			return
		case <-timer.C():
		}
	}
}

// check compares everything and returns the time until the next check.
func (d *mutationDetector) check() time.Duration {
	d.mu.Lock()
	now := d.clock.Now()
	err := d.core.Check(now)
	next := d.core.NextCheck()
	d.mu.Unlock()
	if err != nil {
		d.fail(err)
	}
	return next.Sub(now)
}
