package simtest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/simtest"
)

// reading is a controller that reads ConfigMaps from its cache. What it makes of them, and who hears of an error, is the test's.
type reading struct {
	read    func(lister cache.Indexer, key string) error
	tell    func(key string) func(error)
	mention func(key string, err error)
	again   time.Duration // after a success, unless it is 0
	final   bool          // an error: what cannot be reconciled is not tried again
}

func (c *reading) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	queue.factory.WaitForCacheSync(ctx.Done())
	for {
		item, down := queue.Get()
		if down {
			return nil
		}
		key := fmt.Sprint(item)
		end := func(error) {}
		if c.tell != nil {
			end = c.tell(key)
		}
		err := c.read(queue.maps.GetIndexer(), key)
		if end(err); err == nil {
			queue.Forget(item)
			if c.again > 0 {
				queue.AddAfter(item, c.again)
			}
		} else {
			if c.mention != nil {
				c.mention(key, err)
			}
			if !c.final {
				queue.AddRateLimited(item)
			}
		}
		queue.Done(item)
	}
}

// parses fails for ever for the ConfigMap a, which is as it should be.
func parses(_ cache.Indexer, key string) error {
	if key == "default/a" {
		return errors.New(`a number is expected, and there is "1k"`)
	}
	return nil
}

// oftenFails fails three times out of four.
func oftenFails() func(cache.Indexer, string) error {
	n := 0
	return func(cache.Indexer, string) error {
		if n++; n%4 != 0 {
			return errors.New(`the disk "sda" is busy`)
		}
		return nil
	}
}

// wants fails as long as there is no object of that key, which may be the reconciled one.
func wants(other string) func(cache.Indexer, string) error {
	return func(lister cache.Indexer, key string) error {
		name := other
		if other == "" {
			name = key
		}
		if _, exists, _ := lister.GetByKey(name); !exists {
			return fmt.Errorf("what it needs: %w", apierrors.NewNotFound(corev1.Resource("configmap"), name[len("default/"):]))
		}
		return nil
	}
}

// misses is wants in words of its own, as programs say it of what they have looked up by its key.
func misses(other string) func(cache.Indexer, string) error {
	return func(lister cache.Indexer, key string) error {
		name := cmp.Or(other, key)
		if _, exists, _ := lister.GetByKey(name); !exists && key != other {
			return fmt.Errorf("configmap %s not found", name)
		}
		return nil
	}
}

// readingBody runs a controller while a ConfigMap stays and another one comes and goes.
func readingBody(c reading, told bool) func(*simtest.Env) {
	return func(env *simtest.Env) {
		if told {
			c.tell = func(key string) func(error) { return env.Reconciling("reader", "configmaps "+key) }
		}
		env.Go("reads", func(ctx context.Context) error { return c.run(ctx, env.RESTConfig("reads")) })
		env.Create(configMap("a", ""), configMap("b", ""))
		env.Advance(time.Minute)
		env.Delete(configMap("b", ""))
		env.Advance(time.Minute)
	}
}

// A reconcile that fails for ever, and makes no request, is found if the test tells of it, or if its error is logged.
func TestNoEndlessError(t *testing.T) {
	handle := func(key string, err error) { utilruntime.HandleError(fmt.Errorf("sync %q: %w", key, err)) }
	structured := func(key string, err error) { klog.ErrorS(err, "It failed", "key", key) }
	twice := func(key string, err error) { // unless it is about b itself
		if key == "default/a" {
			klog.ErrorS(err, "What it needs is not there", "key", key, "configmap", "default/b")
		}
	}
	for name, test := range map[string]struct {
		c     reading
		told  bool
		finds []string // nothing, if it is right
	}{
		"told": {reading{read: parses}, true, []string{
			`reader still fails to reconcile configmaps default/a: a number is expected, and there is "1k". It has failed `, " times since the faults stopped at ", "no request of the last attempt was refused",
			"reader has reconciled configmaps default/a: a number is expected", "because"}},
		"handled": {reading{read: parses, mention: handle}, false, []string{
			`the program logs the same error again and again, `, "no request was refused for that reason: E endless_error_test.go:", "1k", "it logs E endless_error_test.go:"}},
		"logged":                 {reading{read: parses, mention: structured}, false, []string{"the program logs the same error again and again, "}},
		"gone":                   {reading{read: wants("")}, true, []string{`reader still fails to reconcile configmaps default/b: what it needs: configmap "b" not found`}},
		"gone, logged":           {reading{read: wants(""), mention: structured}, false, []string{"the program logs the same error again and again, ", `"b`, `not found`}},
		"gone, in other words":   {reading{read: misses(""), mention: structured}, false, []string{"the program logs the same error again and again, ", `configmap default/b not found`}},
		"waits for what is gone": {reading{read: misses("default/b"), mention: structured}, false, nil},
		"waits for what is gone, and names it twice": {reading{read: wants("default/b"), mention: twice}, false, nil},
		"waits":                         {reading{read: wants("default/c")}, true, nil},
		"waits, logged":                 {reading{read: wants("default/c"), mention: structured}, false, nil},
		"right":                         {reading{read: func(cache.Indexer, string) error { return nil }}, true, nil},
		"nobody hears of it":            {reading{read: parses}, false, nil},             // and the summary says so
		"told, and not tried again":     {reading{read: parses, final: true}, true, nil}, // as a TerminalError of controller-runtime's
		"told, and succeeds":            {reading{read: oftenFails()}, true, nil},
		"told, succeeds, and is logged": {reading{read: oftenFails(), mention: structured, again: time.Minute}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := simtest.Options{Seeds: 6, Properties: simtest.WellBehaved()}
			found := simtest.Find(t, o, readingBody(test.c, test.told))
			switch {
			case len(test.finds) == 0 && found != nil:
				t.Errorf("found %v", found)
			case len(test.finds) > 0 && (found == nil || found.Property != simtest.NoEndlessError || found.Seed != 1):
				t.Errorf("found %v", found)
			case found != nil:
				wantIn(t, found.Text, test.finds...)
			}
		})
	}
}

// What a refused request is the reason of is the server's, and what is excepted is not judged.
func TestNoEndlessErrorSpares(t *testing.T) {
	refused := func(env *simtest.Env) {
		env.Go("writes", func(ctx context.Context) error {
			client, err := kubernetes.NewForConfig(env.RESTConfig("writes"))
			if err != nil {
				return err
			}
			for n := 1; ctx.Err() == nil; n++ {
				end := env.Reconciling("writer", "configmaps default/a")
				_, err := client.CoreV1().ConfigMaps("default").Create(ctx, configMap("A", ""), metav1.CreateOptions{})
				end(err)
				klog.ErrorS(err, "It failed")
				select {
				case <-ctx.Done():
				case <-time.After(5 * time.Minute):
				}
			}
			return nil
		})
		env.Create(configMap("a", ""))
		env.Advance(time.Minute)
	}
	if found := simtest.Find(t, simtest.Options{Seeds: 4, Properties: simtest.WellBehaved()}, refused); found != nil {
		t.Errorf("found %v", found)
	}
	for _, e := range []simtest.Exception{{Client: "reader"}, {Object: "configmaps"}, {Object: "configmaps default/a"}, {Client: "reader", Object: "configmaps default/a"}} {
		e.Property, e.Why = simtest.NoEndlessError, "it waits for a person"
		if found := simtest.Find(t, simtest.Options{Seeds: 1, Properties: simtest.WellBehaved(e)}, readingBody(reading{read: parses}, true)); found != nil {
			t.Errorf("%+v: found %v", e, found)
		}
	}
	e := simtest.Exception{Property: simtest.NoEndlessError, Object: "configmaps default/a", Why: "it waits for a person"}
	mention := func(key string, err error) { klog.ErrorS(err, "It failed", "key", key) }
	if found := simtest.Find(t, simtest.Options{Seeds: 1, Properties: simtest.WellBehaved(e)}, readingBody(reading{read: parses, mention: mention}, false)); found != nil {
		t.Errorf("logged: found %v", found)
	}
}

// A handler that complains of an object whenever it is told of it retries nothing: it is told again by each list, after a restart or when a watch has expired.
func TestNoEndlessErrorSparesNotifications(t *testing.T) {
	for name, streamed := range map[string]simtest.Setting{"streaming": simtest.On, "lists": simtest.Off} {
		t.Run(name, func(t *testing.T) {
			complaints := 0
			o := simtest.Options{Seeds: 4, WatchList: streamed, Properties: simtest.WellBehaved()}
			found := simtest.Find(t, o, func(env *simtest.Env) {
				env.Go("hears", func(ctx context.Context) error {
					client, err := kubernetes.NewForConfig(env.RESTConfig("hears"))
					if err != nil {
						return err
					}
					factory := informers.NewSharedInformerFactory(client, 0)
					complain := func(obj any) {
						complaints++
						klog.ErrorS(errors.New("it has no owner"), "What is this?", "configmap", klog.KObj(obj.(*corev1.ConfigMap)))
					}
					if _, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: complain, UpdateFunc: func(_, obj any) { complain(obj) }}); err != nil {
						return err
					}
					factory.Start(ctx.Done())
					defer factory.Shutdown()
					<-ctx.Done()
					return nil
				})
				env.Create(configMap("a", ""))
				env.Advance(time.Minute)
				env.Restart("hears")
			})
			if found != nil || complaints < 3*o.Seeds {
				t.Errorf("%d complaints; found %v", complaints, found)
			}
		})
	}
}

// A passing Run says what ready-made properties have not seen, unless the test tells of reconciles or does not ask for them.
func TestRunSaysWhatIsNotSeen(t *testing.T) {
	const (
		untold      = "; the test tells of no reconciles (simtest.Logger for controller-runtime from v0.15 on, env.Reconciling), so "
		unrestarted = "; its processes never crash (Options.CrashProbability), so QuietAfterRestart restarts none"
		endless     = "NoEndlessError sees none that fails for ever, unless the error is logged with klog"
		others      = "NoForgottenFailure sees none that is given up, and NoRevival sees none that creates its object when that has gone, and NoHotReconcile sees none that comes again and again without a request"
	)
	right := reading{read: func(cache.Indexer, string) error { return nil }}
	for _, test := range []struct {
		told bool
		o    simtest.Options
		says string
	}{
		{false, simtest.Options{Properties: simtest.WellBehaved()}, untold + endless + ", and " + others},
		{true, simtest.Options{Properties: simtest.WellBehaved()}, ""},
		{false, simtest.Options{Properties: simtest.WellBehaved(simtest.Exception{Property: simtest.NoEndlessError, Why: "another test asks for it"})}, untold + others},
		{false, simtest.Options{}, ""},
		{true, simtest.Options{Properties: simtest.WellBehaved(), Mix: "light"}, unrestarted},
		{true, simtest.Options{Properties: simtest.WellBehaved(), CrashProbability: -1}, unrestarted},
		{true, simtest.Options{Properties: simtest.WellBehaved(), Mix: "light", CrashProbability: 0.01}, ""},
		{true, simtest.Options{Properties: simtest.WellBehaved(simtest.Exception{Property: simtest.QuietAfterRestart, Why: "another test asks for it"}), Mix: "light"}, ""},
	} {
		r := &recorder{name: t.Name()}
		test.o.Seeds = 2
		try(r, test.o, readingBody(right, test.told))
		if log := strings.Join(r.logs, "\n"); r.failed || !strings.Contains(log, test.says) || test.says != unrestarted && strings.Contains(log, unrestarted) || test.says == "" && strings.Contains(log, untold) {
			t.Errorf("%+v: failed: %v %v; the log is\n%s", test, r.failed, r.errors, log)
		}
	}
}

// A controller that complains of each object at each reconcile, and writes it, is late with the last of them when writes are slow, as they are when the run has all informers list anew: it has been told of it all the same.
func TestNoEndlessErrorSparesSlowComplaints(t *testing.T) {
	complaints := 0
	o := simtest.Options{Seeds: 4, Properties: simtest.WellBehaved()}
	found := simtest.Find(t, o, func(env *simtest.Env) {
		env.Go("complains", func(ctx context.Context) error {
			config := env.RESTConfig("complains")
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			queue, shutDown, err := newMapQueue(ctx, config, true)
			if err != nil {
				return err
			}
			defer shutDown()
			queue.factory.WaitForCacheSync(ctx.Done())
			for {
				key, end := queue.Get()
				if end {
					return nil
				}
				complaints++
				_, name, _ := cache.SplitMetaNamespaceKey(key.(string))
				klog.ErrorS(errors.New("it has no owner"), "What is this?", "configmap", key)
				_, err := client.CoreV1().ConfigMaps("default").Patch(ctx, name, types.MergePatchType, []byte(`{"data":{"seen":"yes"}}`), metav1.PatchOptions{})
				if queue.Done(key); err != nil && !apierrors.IsNotFound(err) {
					queue.AddRateLimited(key)
					continue
				}
				queue.Forget(key)
			}
		})
		for n := range 5 {
			env.Create(configMap(fmt.Sprintf("m%d", n), ""))
		}
		env.Advance(time.Minute)
		env.StopFaults()
		env.Restart("complains")
		env.Advance(time.Second)
	})
	if found != nil || complaints < 10*o.Seeds {
		t.Errorf("%d complaints; found %v", complaints, found)
	}
}

// What the goroutines of a process log, or tell of reconciles, that has crashed is no error of the program's: in a cluster they are gone with it.
func TestNoEndlessErrorOfTheDead(t *testing.T) {
	for _, told := range []bool{false, true} {
		o := simtest.Options{Mix: "none", Seeds: 1, AllowLeaks: true, Properties: simtest.WellBehaved()}
		simtest.Run(t, o, func(env *simtest.Env) {
			env.Go("undying", func(ctx context.Context) error {
				client, err := kubernetes.NewForConfig(env.RESTConfig("undying"))
				if err != nil {
					return err
				}
				go func() {
					for {
						end := func(err error) {
							if err != nil {
								klog.Errorf("it cannot be read: %v", err)
							}
						}
						if told {
							end = env.Reconciling("undying", "configmaps default/a")
						}
						_, err := client.CoreV1().ConfigMaps("default").Get(context.Background(), "a", metav1.GetOptions{})
						end(err)
						time.Sleep(time.Minute)
					}
				}()
				<-ctx.Done()
				return nil
			})
			env.Create(configMap("a", ""))
			env.Advance(90 * time.Second)
			env.Crash("undying")
			env.Advance(time.Minute)
		})
	}
}
