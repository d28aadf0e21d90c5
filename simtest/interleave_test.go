package simtest_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/internal/bubble"
)

// inbox holds what handlers have for a worker. If a signal is lost while the worker has found nothing, and does not wait yet, it sleeps on: that
// takes a channel without a buffer, and a handler that comes between the worker's two steps.
type inbox struct {
	mu   sync.Mutex
	keys []string
	wake chan struct{}
}

func (i *inbox) add(key string) {
	i.mu.Lock()
	i.keys = append(i.keys, key)
	i.mu.Unlock()
	select {
	case i.wake <- struct{}{}:
	default: // the worker is busy, and is going to look again
	}
}

// take waits for keys, and returns none when the context is done.
func (i *inbox) take(ctx context.Context) []string {
	for ctx.Err() == nil {
		i.mu.Lock()
		keys := i.keys
		i.keys = nil
		i.mu.Unlock()
		if len(keys) > 0 {
			return keys
		}
		select {
		case <-i.wake:
		case <-ctx.Done():
		}
	}
	return nil
}

// total is the ConfigMap that says how many others there are.
const total = "total"

// count is a controller that keeps the total. One handler looks at every object, another one at what may change the number. A signal is lost
// if the inbox has no buffer.
func count(ctx context.Context, env *simtest.Env, buffer int) error {
	client := kubernetes.NewForConfigOrDie(env.RESTConfig("count"))
	factory := informers.NewSharedInformerFactory(client, 0)
	maps := factory.Core().V1().ConfigMaps()
	box := &inbox{wake: make(chan struct{}, buffer)}
	changed := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { box.add(total) },
		DeleteFunc: func(any) { box.add(total) },
	}
	seen := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { box.add(obj.(*corev1.ConfigMap).Name) }}
	for _, h := range []cache.ResourceEventHandler{seen, changed} {
		if _, err := maps.Informer().AddEventHandler(h); err != nil {
			return err
		}
	}
	lister := maps.Lister().ConfigMaps("default")
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	for {
		keys := box.take(ctx)
		if keys == nil {
			return nil
		}
		if !slices.Contains(keys, total) {
			continue // there is nothing to do for the others
		}
		all, err := lister.List(labels.Everything())
		if err != nil {
			return err
		}
		number := len(all)
		m := configMap(total, "")
		if old, err := lister.Get(total); err == nil {
			m, number = old.DeepCopy(), number-1
		}
		m.Data = map[string]string{"number": strconv.Itoa(number)}
		if m.ResourceVersion == "" {
			_, err = client.CoreV1().ConfigMaps("default").Create(ctx, m, metav1.CreateOptions{})
		} else {
			_, err = client.CoreV1().ConfigMaps("default").Update(ctx, m, metav1.UpdateOptions{})
		}
		if err != nil {
			time.AfterFunc(time.Second, func() { box.add(total) })
		}
	}
}

// counted has ConfigMaps counted, of which there are more and more.
func counted(buffer int) func(env *simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("count", func(ctx context.Context) error { return count(ctx, env, buffer) })
		right := func(want int) func() error {
			return func() error {
				m := configMap(total, "")
				if err := env.Get(m); err != nil {
					return err
				}
				if got := m.Data["number"]; got != strconv.Itoa(want) {
					return fmt.Errorf("the total is %s, and there are %d", got, want)
				}
				return nil
			}
		}
		for n := range 10 {
			if n == 2 {
				env.StopFaults()
			}
			env.Create(configMap(fmt.Sprint("m", n), ""))
			env.Advance(time.Minute)
			if n > 1 {
				env.Eventually(fmt.Sprint("the total is ", n+1), 10*time.Minute, right(n+1))
			}
		}
	}
}

// A signal that is lost between a look and a wait is found where goroutines are interleaved, and nowhere else. With a buffer it is not lost.
func TestInterleavingFindsALostSignal(t *testing.T) {
	find := func(o simtest.Options, buffer int) *simtest.Finding {
		return simtest.Find(struct{ testing.TB }{t}, o, counted(buffer)) // what cannot say when it ends has no numbers of calls in its traces, in which two calls differ
	}
	if found := find(simtest.Options{Seeds: 20, Interleave: simtest.Off}, 0); found != nil {
		t.Errorf("goroutines that take turns lose a signal: %v", found)
	}
	if !bubble.Seeded() {
		return
	}
	found := find(simtest.Options{Seeds: 20}, 0)
	if found == nil {
		t.Fatal("no seed loses a signal")
	}
	if !strings.Contains(found.Message, "still not true") || !strings.Contains(found.Text, "goroutines interleaved") {
		t.Errorf("seed %d finds something else: %v", found.Seed, found)
	}
	again := find(simtest.Options{Seeds: 20}, 0)
	if again == nil || again.Seed != found.Seed || !bytes.Equal(again.Trace, found.Trace) {
		t.Errorf("seed %d makes another run: %v, and then %v", found.Seed, found, again)
	}
	if found := find(simtest.Options{Seeds: 20, Interleave: simtest.On}, 1); found != nil {
		t.Errorf("with a buffer, a signal is lost: %v", found)
	}
}

// An interleaved run repeats. Without the overlay there is none, and a test that asks for one is told so.
func TestInterleavedRunsRepeat(t *testing.T) {
	o := simtest.Options{Seeds: 5, Interleave: simtest.On, Verify: true}
	if bubble.Seeded() {
		simtest.Run(t, o, counted(1))
		return
	}
	wantIn(t, failure(t, o, counted(1)), "Options.Interleave is On, and this test is built without the overlay", `informersim go test`)
	setFlag(t, "simtest.interleave", "off")
	o.Verify = false
	simtest.Run(t, o, func(env *simtest.Env) { env.Advance(time.Minute) })
}

// A failure that needs its interleaving keeps it when it is shrunk, and its trace replays.
func TestInterleavedFailureReplays(t *testing.T) {
	if !bubble.Seeded() {
		t.Skip("it takes the overlay of Go's runtime")
	}
	t.Chdir(t.TempDir())
	o := simtest.Options{Seeds: 20, Interleave: simtest.On}
	first := &keeper{recorder{name: "TestX"}}
	try(first, o, counted(0))
	message := strings.Join(first.errors, "\n")
	wantIn(t, message, "goroutines interleaved", "the total is")
	_, file, _ := strings.Cut(message, "-simtest.replay=")
	file, _, _ = strings.Cut(file, "\n")
	setFlag(t, "simtest.replay", file)
	again := &keeper{recorder{name: "TestX"}}
	try(again, o, counted(0))
	if hash := hashIn.FindString(message); hash == "" || !strings.Contains(strings.Join(again.errors, "\n"), hash) {
		t.Errorf("the replay:\n%s\nof\n%s", strings.Join(again.errors, "\n"), message)
	}
}

var hashIn = regexp.MustCompile(`hash [0-9a-f]{16}`)
