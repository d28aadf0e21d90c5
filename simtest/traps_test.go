package simtest_test

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	"github.com/informersim/informersim/simtest/internal/bubble"
)

// The default error handlers throttle by the time of the last error, which was in real time: they would sleep for decades.
func TestErrorsCostNoTime(t *testing.T) {
	utilruntime.HandleError(errors.New("in real time"))
	simtest.Run(t, simtest.Options{Seeds: 2}, func(env *simtest.Env) {
		before := env.Now()
		for range 10 {
			utilruntime.HandleError(errors.New("in the bubble"))
		}
		if d := env.Now().Sub(before); d != 0 {
			t.Errorf("ten errors took %v", d)
		}
	})
}

// The seed decides what is drawn from process-wide sources.
func TestRandomSourcesFollowTheSeed(t *testing.T) {
	draw := func() map[uint64]string {
		drawn := map[uint64]string{}
		simtest.Run(t, simtest.Options{Seeds: 3}, func(env *simtest.Env) {
			b := make([]byte, 8)
			if _, err := cryptorand.Read(b); err != nil {
				t.Error(err)
			}
			drawn[env.Seed()] = fmt.Sprint(rand.Int63(), hex.EncodeToString(b), uuid.NewUUID(), wait.Jitter(time.Second, 1), env.Rand().Uint64())
		})
		return drawn
	}
	first, second := draw(), draw()
	for seed, d := range first {
		if second[seed] != d {
			t.Errorf("seed %d draws %s and %s", seed, d, second[seed])
		}
		for other, o := range first {
			if other != seed && o == d {
				t.Errorf("seeds %d and %d draw the same: %s", seed, other, d)
			}
		}
	}
}

// Simultaneous requests are ordered by their content, not by which goroutine came first.
func TestGoroutinesThatAskTogether(t *testing.T) {
	order := func() (all [][]string) {
		simtest.Run(t, simtest.Options{Seeds: 5, Mix: "none"}, func(env *simtest.Env) {
			var mu sync.Mutex
			var got []string
			env.Go("many", func(ctx context.Context) error {
				c := kubernetes.NewForConfigOrDie(env.RESTConfig("many"))
				names := map[string]bool{}
				for i := range 8 {
					names[fmt.Sprintf("m%d", i)] = true
				}
				var wg sync.WaitGroup
				for name := range names { // order: the test needs another one each time
					wg.Add(1)
					go func() {
						defer wg.Done()
						if _, err := c.CoreV1().ConfigMaps("default").Create(ctx, configMap(name, "0"), metav1.CreateOptions{}); err != nil {
							t.Error(err)
						}
						mu.Lock()
						got = append(got, name)
						mu.Unlock()
					}()
				}
				wg.Wait()
				return nil
			})
			env.Settle()
			all = append(all, got)
		})
		return all
	}
	first, second := order(), order()
	for i := range first {
		if len(first[i]) != 8 || !slices.Equal(first[i], second[i]) {
			t.Errorf("seed %d: %v, then %v", i+1, first[i], second[i])
		}
	}
	if slices.Equal(first[0], first[1]) && slices.Equal(first[1], first[2]) {
		t.Errorf("all seeds have the same order: %v", first[0])
	}
}

// createAll creates a ConfigMap with each name, one after the other.
func createAll(env *simtest.Env, names func() iter.Seq[string]) {
	env.Go("careless", func(ctx context.Context) error {
		c := kubernetes.NewForConfigOrDie(env.RESTConfig("careless"))
		for name := range names() {
			if _, err := c.CoreV1().ConfigMaps("default").Create(ctx, configMap(name, "0"), metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
	env.Settle()
}

// No gate can order the actions of a program that follows the order of a map. Verification detects it and says what to do; with
// the overlay of Go's runtime the seed decides the order.
func TestMapOrderIsFound(t *testing.T) {
	body := func(env *simtest.Env) {
		createAll(env, func() iter.Seq[string] {
			names := map[string]bool{}
			for i := range 16 {
				names[fmt.Sprintf("m%d", i)] = true
			}
			return maps.Keys(names)
		})
	}
	o := simtest.Options{Mix: "none", Verify: true, Seeds: 5}
	if bubble.Seeded() {
		simtest.Run(t, o, body)
		return
	}
	wantIn(t, failure(t, o, body), "seed 1 does not repeat: step ", "the run emits", "the trace has", "range over a map", `informersim go test`,
		"-simtest.verify -simtest.seed=1")
}

// State that outlives a run makes the next one differ, with and without the overlay.
func TestStateThatOutlivesARunIsFound(t *testing.T) {
	names := 0
	message := failure(t, simtest.Options{Mix: "none", Verify: true}, func(env *simtest.Env) {
		createAll(env, func() iter.Seq[string] {
			names++
			return slices.Values([]string{fmt.Sprintf("m%d", names)})
		})
	})
	wantIn(t, message, "seed 1 does not repeat: step ", "configmaps default/m2", "configmaps default/m1")
}

func TestGoroutinesLeftAreNamed(t *testing.T) {
	message := failure(t, simtest.Options{}, func(env *simtest.Env) {
		never := make(chan bool)
		go func() { leftBehind(never) }()
		env.Settle()
	})
	wantIn(t, message, "leftBehind", "traps_test.go", "blocked for good", "set Options.AllowLeaks")
	// Later runs in the process are unaffected.
	simtest.Run(t, simtest.Options{Seeds: 1}, func(env *simtest.Env) { env.Settle() })
}

// What a run leaves behind is known when its bubble has ended, and its trace, which others read without running anything, says so.
func TestTraceSaysWhatIsLeft(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
		go leftBehind(make(chan bool))
		env.Settle()
	})
	if found == nil {
		t.Fatal("nothing is found")
	}
	lines := strings.Split(strings.TrimSpace(string(found.Trace)), "\n")
	if end := lines[len(lines)-1]; strings.HasPrefix(end, `{"end":"pass"`) || !strings.Contains(end, "leftBehind") {
		t.Errorf("the trace ends with %s", end)
	}
}

func leftBehind(c chan bool) { <-c }

// They may be allowed, whether they wait for good or would go on for ever, and then the runs that follow are complete.
func TestGoroutinesLeftAreAllowed(t *testing.T) {
	runs := 0
	simtest.Run(t, simtest.Options{Seeds: 3, AllowLeaks: true}, func(env *simtest.Env) {
		go leftBehind(make(chan bool))
		go func() {
			for range time.Tick(time.Second) {
			}
		}()
		env.Create(configMap("a", "1"))
		env.Advance(time.Minute)
		if err := env.Get(configMap("a", "")); err != nil {
			t.Error(err)
		}
		runs++
	})
	if runs != 3 {
		t.Errorf("%d runs were made, want 3", runs)
	}
}

// An informer that is never stopped ends when its client does.
func TestInformerWithoutStop(t *testing.T) {
	message := failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		c := kubernetes.NewForConfigOrDie(env.RESTConfig("a"))
		inf := cache.NewSharedIndexInformer(cache.NewListWatchFromClient(c.CoreV1().RESTClient(), "configmaps", "", everything{}), &corev1.ConfigMap{}, 0, nil)
		stop := make(chan struct{})
		go inf.Run(stop)
		env.Advance(time.Minute)
	})
	wantIn(t, message, "goroutines")
}

func TestBodyThatWaitsForEver(t *testing.T) {
	message := failure(t, simtest.Options{}, func(env *simtest.Env) {
		select {
		case <-make(chan bool):
		case <-env.Context().Done():
		}
	})
	wantIn(t, message, "BodyReturns", "2h0m0s of virtual time", "select")
}

// A body with a client of its own meets faults as everybody does: who waits for an answer is told where, in his own code.
func TestBodyThatWaitsForAnAnswer(t *testing.T) {
	message := failure(t, simtest.Options{Mix: "none", VirtualBodyTimeout: time.Minute}, func(env *simtest.Env) {
		maps := kubernetes.NewForConfigOrDie(env.RESTConfig("somebody")).CoreV1().ConfigMaps("default")
		_, _ = maps.Get(env.Context(), "a", metav1.GetOptions{})
		env.Inject(fault.Fault{Kind: fault.ListSlow, Target: "somebody", Duration: time.Hour, Count: fault.Lasting})
		_, _ = maps.Get(env.Context(), "a", metav1.GetOptions{})
	})
	wantIn(t, message, "BodyReturns", "has waited for 1m0s of virtual time: for the answer to a request of its own client, in ", ".Get", "called by ", "traps_test.go:", "Options.VirtualBodyTimeout is how long it may wait")
}

// Some schedules let much time pass before an answer comes. The body's own clients get theirs in time.
func TestBodyIsAnsweredInTime(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: seeds(100), Mix: "none", VirtualBodyTimeout: 20 * time.Minute}, func(env *simtest.Env) {
		env.Go("ticks", func(ctx context.Context) error {
			defer everySo(time.Second, func() {})()
			<-ctx.Done()
			return nil
		})
		maps := kubernetes.NewForConfigOrDie(env.RESTConfig("somebody")).CoreV1().ConfigMaps("default")
		for range 20 {
			_, _ = maps.Get(env.Context(), "a", metav1.GetOptions{})
		}
	})
}

func TestMistakesGetASentence(t *testing.T) {
	var stale *simtest.Env
	simtest.Run(t, simtest.Options{Seeds: 1}, func(env *simtest.Env) { stale = env })
	panics := func(name, want string, f func()) {
		t.Helper()
		defer func() {
			t.Helper()
			if p := recover(); p == nil {
				t.Errorf("%s: no panic", name)
			} else {
				wantIn(t, fmt.Sprint(p), want)
			}
		}()
		f()
	}
	body := func(*simtest.Env) {}
	blank := filepath.Join(t.TempDir(), "blank.yaml")
	if err := os.WriteFile(blank, []byte("# nothing yet"), 0o600); err != nil {
		t.Fatal(err)
	}
	mixed := t.TempDir()
	for name, text := range map[string]string{"a.yml": "# nothing", "b.json": "\n", "c.txt": gadgets} {
		if err := os.WriteFile(filepath.Join(mixed, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	panics("no t", "needs the t of a test", func() { simtest.Run(nil, simtest.Options{}, body) })
	panics("nil *testing.T", "needs the t of a test", func() { simtest.Run((*testing.T)(nil), simtest.Options{}, body) })
	panics("env after the run", "used after its run", func() { stale.Settle() })
	panics("config after the run", "used after its run", func() { stale.RESTConfig("a") })
	panics("an env of its own", "not made by Run", func() { new(simtest.Env).Settle() })

	for name, test := range map[string]struct {
		o    simtest.Options
		body func(*simtest.Env)
		want []string
	}{
		"no body":      {want: []string{"needs a body"}},
		"nil object":   {simtest.Options{}, func(env *simtest.Env) { env.Create(nil) }, []string{"env.Create: it was given nil in place of an object"}},
		"nil pointer":  {simtest.Options{}, func(env *simtest.Env) { env.Delete((*corev1.ConfigMap)(nil)) }, []string{"env.Delete: it was given nil in place of an object"}},
		"nil patched":  {simtest.Options{}, func(env *simtest.Env) { env.Patch(nil, types.MergePatchType, "{}") }, []string{"env.Patch: it was given nil in place of an object"}},
		"seeds":        {simtest.Options{Seeds: -1}, body, []string{"Options.Seeds is -1"}},
		"mix":          {simtest.Options{Mix: "strom"}, body, []string{"did you mean \"storm\""}},
		"fifo with":    {simtest.Options{Strategy: "fifo", Mix: "storm"}, body, []string{"picks no faults"}},
		"strategy":     {simtest.Options{Strategy: "rnd"}, body, []string{"must be random or fifo"}},
		"CRD":          {simtest.Options{CRDs: []string{"nowhere.yaml"}}, body, []string{"nowhere.yaml"}},
		"CRD of space": {simtest.Options{CRDs: []string{gadgets, "\n\n"}}, body, []string{"Options.CRDs: the manifest 2 of 2 is empty"}},
		"CRD comment":  {simtest.Options{CRDs: []string{"# later\n---\n# or never\n"}}, body, []string{"Options.CRDs: the manifest 1 of 1 is empty"}},
		"CRD file":     {simtest.Options{CRDs: []string{blank}}, body, []string{"Options.CRDs: " + blank + " has no manifest in it"}},
		"CRD folder":   {simtest.Options{CRDs: []string{filepath.Dir(blank)}}, body, []string{"Options.CRDs: " + filepath.Dir(blank) + " has no manifest in it"}},
		"CRDs, others": {simtest.Options{CRDs: []string{mixed}}, body, []string{"Options.CRDs: " + mixed + " has no manifest in it"}},
		"no CRDs":      {simtest.Options{CRDs: []string{t.TempDir()}}, body, []string{"has no *.yaml, *.yml or *.json"}},
		"no webhook":   {simtest.Options{Webhooks: simtest.Webhooks{Configurations: []string{blank}, Handler: http.NewServeMux()}}, body, []string{"Options.Webhooks: " + blank + " has no"}},
		"no role":      {simtest.Options{Roles: []string{" "}}, body, []string{"Options.Roles: the manifest 1 of 1 is empty"}},
		"unknown kind": {simtest.Options{}, func(env *simtest.Env) { env.Apply("apiVersion: a/v1\nkind: B\nmetadata: {name: c}\n") }, []string{"a/v1, Kind=B is not served"}},
		"unknown proc": {simtest.Options{}, func(env *simtest.Env) { env.Crash("x") }, []string{"there is no process \"x\""}},
		"twice":        {simtest.Options{}, func(env *simtest.Env) { env.Go("x", ends); env.Go("x", ends) }, []string{"already a process \"x\""}},
		"exists":       {simtest.Options{}, func(env *simtest.Env) { env.Create(configMap("a", "")); env.Create(configMap("a", "")) }, []string{"configmaps default/a", "already exists"}},
		"always asks": {simtest.Options{}, func(env *simtest.Env) {
			env.Always("x", func() error { env.Settle(); return nil })
			env.Settle()
			env.Advance(time.Second)
		}, []string{"FAIL  x at step", "between two steps"}},
		"time goes back": {simtest.Options{}, func(env *simtest.Env) { env.Advance(-1) }, []string{"time cannot go backwards"}},
		"fault":          {simtest.Options{}, func(env *simtest.Env) { env.Faults(badFault) }, []string{"watch-eoff"}},
	} {
		t.Run(name, func(t *testing.T) { wantIn(t, failure(t, test.o, test.body), test.want...) })
	}
}

func TestWorldInABubble(t *testing.T) {
	inner := &recorder{name: "inner"}
	wantIn(t, failure(t, simtest.Options{}, func(*simtest.Env) { simtest.Run(inner, simtest.Options{}, func(*simtest.Env) {}) }), "the body failed the test")
	wantIn(t, fmt.Sprint(inner.errors), "inside a synctest bubble")
}

func ends(context.Context) error { return nil }

// Real I/O, and channels from outside, keep the bubble from becoming quiescent. No run can follow in that process, so this test
// uses one of its own.
func TestWaitingForTheOutside(t *testing.T) {
	for name, wait := range map[string]func(){
		"never-stop": func() { <-wait.NeverStop },
		"real-io": func() {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return
			}
			_, _ = l.Accept()
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !isChild() {
				out := runChild(t)
				wantIn(t, out, "did not become quiescent within", "TestWaitingForTheOutside", "an earlier run of this process")
				return
			}
			simtestOfChild(t, wait)
		})
	}
}
