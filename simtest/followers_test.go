package simtest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// follow runs a client with its own list and watch of ConfigMaps, while watches end now and then.
func follow(env *simtest.Env, run func(ctx context.Context, c typedcorev1.ConfigMapInterface) error) {
	env.Go("follower", func(ctx context.Context) error {
		return run(ctx, kubernetes.NewForConfigOrDie(env.RESTConfig("follower")).CoreV1().ConfigMaps("default"))
	})
	env.Create(configMap("a", "0"))
	for range 4 {
		env.Advance(time.Minute)
		m := configMap("a", "")
		if env.Get(m) == nil {
			m.Data["v"] += "x"
			env.Update(m)
		}
		env.Advance(time.Minute)
		env.Faults(fault.Fault{Kind: fault.WatchEOF, Target: "follower"})
		env.Advance(time.Minute)
	}
}

// drain reads a watch to its end and returns the revision of its last event.
func drain(ctx context.Context, c typedcorev1.ConfigMapInterface, rv string) (string, error) {
	w, err := c.Watch(ctx, metav1.ListOptions{ResourceVersion: rv, AllowWatchBookmarks: true})
	if err != nil {
		return rv, err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if m, ok := e.Object.(metav1.Object); ok {
			rv = m.GetResourceVersion()
		}
	}
	return rv, ctx.Err()
}

// A client that lists once and resumes where it was is correct, and so is one with several such followers.
func TestFollowersThatAreRight(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 5, Mix: "none", Replicas: 2}, func(env *simtest.Env) {
		follow(env, func(ctx context.Context, c typedcorev1.ConfigMapInterface) error {
			one := func() {
				list, err := c.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
				for rv := list.ResourceVersion; err == nil; {
					rv, err = drain(ctx, c, rv)
				}
			}
			for range 3 {
				go one()
			}
			one()
			return nil
		})
	})
}

// A client may list what it follows for another purpose, too, as a controller with an uncached reader does: the watch resumes where it was, although that is also the
// revision of such a list.
func TestFollowerThatAlsoLists(t *testing.T) {
	for name, at := range map[string]time.Duration{"while it watches": 90 * time.Second, "when its watch has ended": 2*time.Minute + 500*time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			simtest.Run(t, simtest.Options{Seeds: 5, Mix: "none"}, func(env *simtest.Env) {
				follow(env, func(ctx context.Context, c typedcorev1.ConfigMapInterface) error {
					go func() {
						time.Sleep(at)
						for ctx.Err() == nil {
							_, _ = c.List(ctx, metav1.ListOptions{})
							time.Sleep(time.Minute)
						}
					}()
					list, err := c.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
					for rv := list.ResourceVersion; err == nil; {
						rv, err = drain(ctx, c, rv)
						time.Sleep(time.Second)
					}
					return err
				})
			})
		})
	}
}

// The mistakes of careless clients are found at the API.
func TestFollowersThatAreWrong(t *testing.T) {
	for property, test := range map[string]struct {
		run  func(ctx context.Context, c typedcorev1.ConfigMapInterface) error
		want string
	}{
		"NoRelistOnEOF": {func(ctx context.Context, c typedcorev1.ConfigMapInterface) error {
			for {
				list, err := c.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
				if err == nil {
					_, err = drain(ctx, c, list.ResourceVersion)
				}
				if err != nil {
					return err
				}
			}
		}, "it lists again after a watch that ended cleanly and had delivered "},
		"WatchResumes": {func(ctx context.Context, c typedcorev1.ConfigMapInterface) error {
			list, err := c.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
			for err == nil {
				_, err = drain(ctx, c, list.ResourceVersion)
			}
			return err
		}, "although the one before it, from rv="},
		"NoHotLoop": {func(ctx context.Context, c typedcorev1.ConfigMapInterface) error {
			for {
				if _, err := c.List(ctx, metav1.ListOptions{ResourceVersion: "0"}); err != nil {
					return err
				}
			}
		}, "1000 times without waiting"},
	} {
		t.Run(property, func(t *testing.T) {
			found := simtest.Find(t, simtest.Options{Seeds: 3, Mix: "none"}, func(env *simtest.Env) { follow(env, test.run) })
			if found == nil || found.Property != property || !strings.Contains(found.Message, test.want) {
				t.Errorf("found %v", found)
			}
		})
	}
}

// A client that lists, watches from a revision that is gone, and lists again without waiting makes no request twice in a row.
func TestHotLoopOfListsAndWatches(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}, func(env *simtest.Env) {
		follow(env, func(ctx context.Context, c typedcorev1.ConfigMapInterface) error {
			for {
				if _, err := c.List(ctx, metav1.ListOptions{}); err != nil {
					return err
				}
				w, err := c.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
				if err != nil {
					return err
				}
				for e := range w.ResultChan() {
					if e.Type == watch.Error {
						break
					}
				}
				w.Stop()
			}
		})
	})
	if found == nil || found.Property != "NoHotLoop" || !strings.Contains(found.Message, "1000 times without waiting") || !strings.Contains(found.Message, "watch") {
		t.Errorf("found %v", found)
	}
}

// A controller that writes one status for hundreds of objects, and makes something of each of them, has an end.
func TestManyWritesAtOneInstant(t *testing.T) {
	const objects = 300
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none", CrashProbability: -1}, func(env *simtest.Env) {
		for n := range objects {
			env.Create(configMap(fmt.Sprint("a-", n), "0"))
		}
		env.Create(configMap("sum", ""))
		env.Go("controller", func(ctx context.Context) error {
			c := kubernetes.NewForConfigOrDie(env.RESTConfig("controller")).CoreV1().ConfigMaps("default")
			for n := range objects {
				m, err := c.Get(ctx, "sum", metav1.GetOptions{})
				if err != nil {
					return err
				}
				m.Data = map[string]string{"v": fmt.Sprint(n)}
				if _, err := c.Update(ctx, m, metav1.UpdateOptions{}); err != nil {
					return err
				}
				for range 9 {
					if _, err := c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "of-it-"}}, metav1.CreateOptions{}); err != nil {
						return err
					}
				}
			}
			<-ctx.Done()
			return nil
		})
		env.Advance(time.Second)
		all := &corev1.ConfigMapList{}
		if err := env.List(all, "default"); err != nil || len(all.Items) != 10*objects+1 {
			t.Errorf("there are %d objects: %v", len(all.Items), err)
		}
	})
}

// A controller that answers each of its own writes with the next gets no further, since no time passes, and is found at once.
func TestWritesThatLeadToWrites(t *testing.T) {
	for name, test := range map[string]struct {
		write func(ctx context.Context, c typedcorev1.ConfigMapInterface, m *corev1.ConfigMap) error
		want  string
	}{
		"of an object": {func(ctx context.Context, c typedcorev1.ConfigMapInterface, m *corev1.ConfigMap) error {
			m.Data["v"] += "x"
			_, err := c.Update(ctx, m, metav1.UpdateOptions{})
			return err
		}, "controller writes configmaps default/a 250 times (update) while no time passes and the test writes nothing, and there is no end: each of its writes leads to the next"},
		"of an object, since it fails": {func(ctx context.Context, c typedcorev1.ConfigMapInterface, m *corev1.ConfigMap) error {
			m.Name = "b"
			for ctx.Err() == nil {
				if _, err := c.Update(ctx, m, metav1.UpdateOptions{}); err == nil {
					break
				}
				m.ResourceVersion = "1"
			}
			return nil
		}, "controller writes configmaps default/b 250 times (update) while no time passes and the test writes nothing, each as soon as one before has failed (404 NotFound: configmaps \"b\" not found): it tries again without a pause, however long that lasts"},
		"of two objects, since both fail": {func(ctx context.Context, c typedcorev1.ConfigMapInterface, m *corev1.ConfigMap) error {
			var both sync.WaitGroup
			for _, name := range []string{"b", "c"} {
				both.Go(func() {
					for ctx.Err() == nil {
						_, _ = c.Update(ctx, configMap(name, "0"), metav1.UpdateOptions{})
					}
				})
			}
			both.Wait()
			return nil
		}, " 250 times (update) while no time passes and the test writes nothing, each as soon as one before has failed (404 NotFound: "},
		"of more and more objects": {func(ctx context.Context, c typedcorev1.ConfigMapInterface, m *corev1.ConfigMap) error {
			_, err := c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}, metav1.CreateOptions{})
			for apierrors.IsAlreadyExists(err) { // among thousands, two may draw one name
				_, err = c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}, metav1.CreateOptions{})
			}
			return err
		}, "controller writes configmaps 2500 times (create) while no time passes and the test writes nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}, func(env *simtest.Env) {
				env.Create(configMap("a", "0"))
				env.Go("controller", func(ctx context.Context) error {
					c := kubernetes.NewForConfigOrDie(env.RESTConfig("controller")).CoreV1().ConfigMaps("default")
					w, err := c.Watch(ctx, metav1.ListOptions{ResourceVersion: "0"})
					if err != nil {
						return err
					}
					defer w.Stop()
					for e := range w.ResultChan() {
						if m, ok := e.Object.(*corev1.ConfigMap); ok {
							if err := test.write(ctx, c, m); err != nil {
								return err
							}
						}
					}
					return nil
				})
				env.Advance(time.Minute)
			})
			if found == nil || found.Property != "NoHotLoop" || !strings.Contains(found.Message, test.want) {
				t.Errorf("found %v", found)
			}
		})
	}
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) { // as many writes as the test's own are no loop
		env.Create(configMap("total", "0"))
		env.Go("counter", func(ctx context.Context) error {
			c := kubernetes.NewForConfigOrDie(env.RESTConfig("counter")).CoreV1().ConfigMaps("default")
			w, err := c.Watch(ctx, metav1.ListOptions{ResourceVersion: "0"})
			if err != nil {
				return err
			}
			defer w.Stop()
			n := 0
			for e := range w.ResultChan() {
				if m, ok := e.Object.(*corev1.ConfigMap); ok && m.Name != "total" {
					n++
					if _, err := c.Update(ctx, configMap("total", fmt.Sprint(n)), metav1.UpdateOptions{}); err != nil {
						return err
					}
				}
			}
			return nil
		})
		for n := range 300 {
			env.Create(configMap(fmt.Sprint("a", n), ""))
		}
		env.Settle()
		if m := configMap("total", ""); env.Get(m) != nil || m.Data["v"] != "300" || env.Now().Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) > time.Second {
			t.Errorf("at %v the total is %v", env.Now(), m.Data)
		}
	})
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) { // a test may write as it likes
		c := kubernetes.NewForConfigOrDie(env.RESTConfig("me")).CoreV1().ConfigMaps("default")
		m := configMap("a", "0")
		env.Create(m)
		for range 300 {
			m.ResourceVersion = ""
			if _, err := c.Update(env.Context(), m, metav1.UpdateOptions{}); err != nil {
				t.Error(err)
			}
		}
	})
}
