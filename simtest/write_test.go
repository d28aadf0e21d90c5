package simtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// rival keeps writing to a ConfigMap: on each watch event that is not its own, it puts its mark there again.
func rival(env *simtest.Env, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		maps := kubernetes.NewForConfigOrDie(env.RESTConfig("rival")).CoreV1().ConfigMaps("default")
		for n := 0; ctx.Err() == nil; n++ {
			m, err := maps.Get(ctx, name, metav1.GetOptions{})
			if err == nil {
				m.Labels = map[string]string{"rival": fmt.Sprint(n)}
				_, _ = maps.Update(ctx, m, metav1.UpdateOptions{})
			}
			if n%5 == 4 {
				time.Sleep(time.Millisecond)
			}
		}
		return nil
	}
}

// Without a resourceVersion an Update is written over whatever is there, also when another client writes at the same time, and when the
// connection broke before the first attempt was served.
func TestUpdateIsWrittenOverWhateverIsThere(t *testing.T) {
	for name, kind := range map[string]fault.Kind{"no fault": "", "reset": fault.WriteReset, "lost": fault.WriteLost} {
		t.Run(name, func(t *testing.T) {
			simtest.Run(t, simtest.Options{Seeds: 10, Mix: "none"}, func(env *simtest.Env) {
				env.Create(configMap("a", "0"))
				env.Go("rival", rival(env, "a"))
				for i := 1; i <= 20; i++ {
					if kind != "" {
						env.Faults(fault.Fault{Kind: kind, Target: "workload"})
					}
					m := configMap("a", fmt.Sprint(i))
					env.Update(m)
					if m.Data["v"] != fmt.Sprint(i) || m.Labels["rival"] != "" || m.ResourceVersion == "" {
						t.Fatalf("seed %d: update %d is answered with %v %v at %q", env.Seed(), i, m.Data, m.Labels, m.ResourceVersion)
					}
				}
			})
		})
	}
}

// A Mutate changes what another client has written, and starts over when that client was faster.
func TestMutateStartsOverOnAConflict(t *testing.T) {
	conflicts := 0
	simtest.Run(t, simtest.Options{Seeds: 10, Mix: "none"}, func(env *simtest.Env) {
		env.Create(configMap("a", "0"))
		for i := 1; i <= 20; i++ {
			m, rivals := configMap("a", ""), i%3
			calls := 0
			env.Mutate(m, func() {
				if calls++; calls <= rivals {
					env.Update(configMap("a", fmt.Sprint("rival", calls)))
				}
				m.Labels = map[string]string{"after": m.Data["v"]}
				m.Data["v"] = fmt.Sprint(i)
			})
			conflicts += calls - 1
			if calls != rivals+1 || m.Data["v"] != fmt.Sprint(i) || rivals > 0 && m.Labels["after"] != fmt.Sprint("rival", rivals) {
				t.Fatalf("seed %d: change %d was made %d times and is answered with %v %v", env.Seed(), i, calls, m.Data, m.Labels)
			}
		}
	})
	if conflicts == 0 {
		t.Error("there was no conflict to start over from")
	}
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) { env.Mutate(configMap("a", "1"), func() {}) }),
		`env.Mutate: configmaps "a" not found`)
}

// With a resourceVersion it conflicts as on a real server, and the test is told so.
func TestUpdateOfAReadStateConflicts(t *testing.T) {
	message := failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		m := configMap("a", "0")
		env.Create(m)
		env.Update(configMap("a", "1"))
		m.Data["v"] = "2"
		env.Update(m)
	})
	wantIn(t, message, "env.Update: configmaps default/a: 409 Conflict: Operation cannot be fulfilled", "clear its resourceVersion")
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) { env.Update(configMap("a", "1")) }),
		`env.Update: configmaps default/a: configmaps "a" not found`, "env.Create creates")
}

// A write whose answer is lost has happened: it is not made a second time.
func TestLostAnswers(t *testing.T) {
	lost := func(env *simtest.Env) { env.Faults(fault.Fault{Kind: fault.WriteLost, Target: "workload"}) }
	simtest.Run(t, simtest.Options{Seeds: 5, Mix: "none"}, func(env *simtest.Env) {
		m := configMap("a", "0")
		lost(env)
		env.Create(m)
		if m.UID == "" || m.ResourceVersion == "" {
			t.Errorf("the created object has uid %q, resourceVersion %q", m.UID, m.ResourceVersion)
		}
		m.Data["v"] = "1"
		before := m.ResourceVersion
		lost(env)
		env.Update(m)
		if m.Data["v"] != "1" || m.ResourceVersion == before {
			t.Errorf("the updated object has %v at %s, was at %s", m.Data, m.ResourceVersion, before)
		}
		lost(env)
		env.Delete(m)
		if err := env.Get(configMap("a", "")); !apierrors.IsNotFound(err) {
			t.Errorf("after the deletion: %v", err)
		}
	})
}

// reviver creates a ConfigMap whenever it is missing.
func reviver(env *simtest.Env) func(context.Context) error {
	return func(ctx context.Context) error {
		maps := kubernetes.NewForConfigOrDie(env.RESTConfig("reviver")).CoreV1().ConfigMaps("default")
		for ctx.Err() == nil {
			if _, err := maps.Create(ctx, configMap("a", "revived"), metav1.CreateOptions{}); err != nil {
				time.Sleep(100 * time.Millisecond)
			}
		}
		return nil
	}
}

// A Delete whose answer is lost does not delete what a controller creates in its place; a Create that never arrived is not taken for
// the one of another client.
func TestLostAnswersAmongOtherClients(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 10, Mix: "none"}, func(env *simtest.Env) {
		env.Go("reviver", reviver(env))
		env.Advance(time.Second)
		m := configMap("a", "")
		if err := env.Get(m); err != nil {
			t.Fatal(err)
		}
		deletions := 0
		uid := m.UID
		env.Always("one deletion", func() error {
			now := configMap("a", "")
			if env.Get(now) == nil && now.UID != uid {
				uid = now.UID
				deletions++
			}
			if deletions > 1 {
				return fmt.Errorf("there were %d", deletions)
			}
			return nil
		})
		env.Faults(fault.Fault{Kind: fault.WriteLost, Target: "workload"})
		env.Delete(m)
		env.Advance(time.Second)
		if deletions != 1 {
			t.Errorf("%d deletions", deletions)
		}
	})
	message := failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		env.Faults(fault.Fault{Kind: fault.WriteReset, Target: "workload"})
		env.Go("reviver", func(ctx context.Context) error {
			_, err := kubernetes.NewForConfigOrDie(env.RESTConfig("reviver")).CoreV1().ConfigMaps("default").Create(ctx, configMap("a", "theirs"), metav1.CreateOptions{})
			return err
		})
		env.Create(configMap("a", "mine"))
	})
	wantIn(t, message, "env.Create: configmaps default/a: 409 AlreadyExists")
}

// A request that the server can never carry out is not repeated for ever.
func TestHopelessWrite(t *testing.T) {
	big := pod("a") // a ConfigMap of that size is invalid; a Pod is more than the store takes
	big.Spec.Containers[0].Args = []string{fmt.Sprintf("%1600000d", 1)}
	wantIn(t, failure(t, simtest.Options{Mix: "none", Shrink: -1}, func(env *simtest.Env) { env.Create(big) }),
		"env.Create: pods default/a: it has failed for 10m", "the last answer: 500", "request is too large")
}

// reaper deletes a ConfigMap whenever it is there, and counts.
func reaper(env *simtest.Env, name string, reaped *int) func(context.Context) error {
	return func(ctx context.Context) error {
		maps := kubernetes.NewForConfigOrDie(env.RESTConfig("reaper")).CoreV1().ConfigMaps("default")
		for n := 1; ctx.Err() == nil; n++ {
			if maps.Delete(ctx, name, metav1.DeleteOptions{}) == nil {
				*reaped++
			}
			if n%100 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		return nil
	}
}

// A test cannot prevent that the controller is faster to delete what the test has just seen. A Delete then has what it wants; of another write, the
// failure says what happened.
func TestWritesOfWhatAnotherClientDeletes(t *testing.T) {
	overtaken := 0
	simtest.Run(t, simtest.Options{Seeds: 5, Mix: "none"}, func(env *simtest.Env) {
		reaped := 0
		env.Go("reaper", reaper(env, "a", &reaped))
		for range 100 {
			m := configMap("a", "")
			if env.Get(m) != nil {
				env.Create(m)
				continue
			}
			before := reaped
			env.Delete(m)
			overtaken += reaped - before
		}
	})
	if overtaken == 0 {
		t.Error("the reaper was never faster")
	}
	for call, write := range map[string]func(*simtest.Env, *corev1.ConfigMap){
		"env.Mutate": func(env *simtest.Env, m *corev1.ConfigMap) { env.Mutate(m, func() { m.Data["v"] = "1" }) },
		"env.Update": func(env *simtest.Env, m *corev1.ConfigMap) { m.ResourceVersion = ""; env.Update(m) },
		"env.Patch":  func(env *simtest.Env, m *corev1.ConfigMap) { env.Patch(m, types.MergePatchType, `{"data":{"v":"1"}}`) },
	} {
		message := failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
			reaped := 0
			env.Go("reaper", reaper(env, "a", &reaped))
			for range 100 {
				m := configMap("a", "")
				if env.Get(m) != nil {
					env.Create(m)
				} else {
					write(env, m)
				}
			}
		})
		wantIn(t, message, call+": configmaps default/a: ", "It was there when "+call+" was called, and has been deleted since: where what is tested may delete it",
			"with a client of the test's own (env.RESTConfig)")
	}
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) { env.Delete(configMap("a", "")) }), "env.Delete: configmaps default/a: 404 NotFound")
}
