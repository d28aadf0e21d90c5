package simtest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// A fault is aimed at a client, a verb and an object, strikes once or until it is taken back, and is listed as long as it is pending.
func TestInject(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 3, Mix: "none"}, func(env *simtest.Env) {
		ctx := env.Context()
		maps := kubernetes.NewForConfigOrDie(env.RESTConfig("me")).CoreV1().ConfigMaps("default")
		create := func(name string) error {
			_, err := maps.Create(ctx, configMap(name, ""), metav1.CreateOptions{})
			return err
		}
		if err := create("known"); err != nil {
			t.Error(err)
		}
		once := env.Inject(fault.Fault{Kind: fault.Write503, Target: "me", Verb: "create", Resource: "configmaps", Name: "b"})
		if all := env.Cluster().Pending(); len(all) != 1 || all[0].State != "armed" || all[0].Left != 1 || all[0].Fault.Kind != fault.Write503 || all[0].Fault.Name != "b" {
			t.Errorf("pending are %+v", all)
		}
		if err := create("a"); err != nil {
			t.Errorf("another object: %v", err)
		}
		if err := create("b"); !apierrors.IsServiceUnavailable(err) {
			t.Errorf("the object that it names: %v", err)
		}
		if err := create("b"); err != nil || env.Cluster().Faults() != 1 || len(env.Cluster().Pending()) != 0 {
			t.Errorf("once it has struck: %v, %d faults, %v", err, env.Cluster().Faults(), env.Cluster().Pending())
		}
		heal := env.Inject(fault.Fault{Kind: fault.Write500, Target: "me", Count: fault.Lasting}, fault.Fault{Kind: fault.List500, Target: "me", Verb: "list", Count: fault.Lasting})
		for range 20 {
			if err := create("c"); !apierrors.IsInternalError(err) {
				t.Errorf("while it lasts: %v", err)
			}
		}
		once()
		heal()
		if err := create("c"); err != nil || len(env.Cluster().Pending()) != 0 {
			t.Errorf("after it was taken back: %v, %v", err, env.Cluster().Pending())
		}
		if _, err := maps.List(ctx, metav1.ListOptions{}); err != nil {
			t.Errorf("the other one: %v", err)
		}
		heal()
	})
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) { env.Inject(fault.Fault{Kind: fault.Write500, Target: "nobody"}) }), "env.Inject: fault write-500: ", "nobody")
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		env.Create(configMap("a", ""))
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "later"})
		env.Go("later", func(ctx context.Context) error { env.RESTConfig("later"); <-ctx.Done(); return nil })
	}), `there is no client "later" to hit; so far there are workload`)
}

// What the cluster says is what the Store has.
// What comes with each step is what the engine would answer.
func TestClusterIsKnownWithoutAsking(t *testing.T) {
	struck := 0
	simtest.Run(t, simtest.Options{Seeds: 2, Mix: "storm", Replicas: 2, Shrink: -1}, func(env *simtest.Env) {
		env.Always("known", func() error {
			c := env.Cluster()
			if revision, steps, faults := simtest.AskedCluster(env); c.Revision() != revision || c.Steps() != steps || c.Faults() != faults {
				return fmt.Errorf("revision %d and not %d, %d steps and not %d, %d faults and not %d", c.Revision(), revision, c.Steps(), steps, c.Faults(), faults)
			}
			struck = max(struck, c.Faults())
			return nil
		})
		var indexer cache.Indexer
		env.Go("mirror", mirror(env, "mirror", &indexer))
		workload(env)
	})
	if struck == 0 {
		t.Error("no fault has struck")
	}
}

func TestClusterAnswers(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
		before, steps := env.Cluster().Revision(), env.Cluster().Steps()
		env.Create(configMap("b", ""), configMap("a", ""))
		if now := env.Cluster().Revision(); now != before+2 || env.Cluster().Steps() == steps {
			t.Errorf("two creations take the revision from %d to %d", before, now)
		}
		if keys := env.Cluster().Keys("configmaps"); !slices.Equal(keys, []string{"default/a", "default/b"}) {
			t.Errorf("there are %q", keys)
		}
		if keys := env.Cluster().Keys("deployments.apps"); keys == nil || len(keys) != 0 {
			t.Errorf("there are %q", keys)
		}
		if asked := env.Cluster().Steps(); asked != env.Cluster().Steps() {
			t.Error("a question is a step")
		}
	})
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) { env.Cluster().Keys("deployments") }),
		`there is no resource "deployments": name one by its plural, with its group`)
}

// writer creates the ConfigMaps a, b and c, one after the other, and those that are left when it is started again.
func writer(env *simtest.Env, starts *int, answered *[]string) func(context.Context) error {
	return func(ctx context.Context) error {
		*starts++
		maps := kubernetes.NewForConfigOrDie(env.RESTConfig("writer")).CoreV1().ConfigMaps("default")
		for _, name := range []string{"a", "b", "c"} {
			if _, err := maps.Create(ctx, configMap(name, fmt.Sprint(*starts)), metav1.CreateOptions{}); err == nil {
				*answered = append(*answered, name)
			} else if !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
		<-ctx.Done()
		return nil
	}
}

// A crash between two writes comes after the commit of the one and before the request for the other, in every seed.
func TestCrashAfter(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 10, Mix: "none"}, func(env *simtest.Env) {
		starts, answered := 0, []string(nil)
		env.CrashAfter("writer", fault.Trigger{Event: fault.TriggerCommit, Resource: "configmaps", Count: 2})
		env.Go("writer", writer(env, &starts, &answered))
		env.Create(configMap("x", ""), configMap("y", "")) // are not its own
		if all := env.Cluster().Pending(); len(all) == 1 && (all[0].Fault.Kind != "crash" || all[0].Fault.Target != "writer" || all[0].State != "triggered") {
			t.Errorf("pending are %+v", all)
		}
		env.Eventually("it crashes", time.Minute, func() error {
			if starts < 2 {
				return fmt.Errorf("it was started %d times", starts)
			}
			return nil
		})
		env.Settle()
		if !slices.Equal(answered, []string{"a", "c"}) {
			t.Errorf("seed %d: it has seen the answers %q", env.Seed(), answered)
		}
		for name, life := range map[string]string{"a": "1", "b": "1", "c": "2"} {
			if m := configMap(name, ""); env.Get(m) != nil || m.Data["v"] != life {
				t.Errorf("seed %d: %s was written by life %s, want %s", env.Seed(), name, m.Data["v"], life)
			}
		}
		// StopFaults drops what has not happened yet.
		env.CrashAfter("writer", fault.Trigger{Event: fault.TriggerCommit, Client: "workload"})
		env.StopFaults()
		env.Create(configMap("z", ""))
		env.Advance(time.Minute)
		if starts != 2 {
			t.Errorf("it was started %d times", starts)
		}
	})
	for want, event := range map[string]fault.Trigger{
		`env.CrashAfter: there is no event "comit": want one of`:                                            {Event: "comit"},
		`env.CrashAfter: there is no resource "secret"`:                                                     {Event: fault.TriggerCommit, Resource: "secret"},
		`env.CrashAfter: there is no resource "deployments.apps": name it without its group, "deployments"`: {Event: fault.TriggerCommit, Resource: "deployments.apps"},
	} {
		wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
			env.Go("x", ends)
			env.CrashAfter("x", event)
		}), want)
	}
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) { env.CrashAfter("x", fault.Trigger{}) }), `env.CrashAfter: there is no process "x"`)
}

// A process may call its client by another name than its own. A fault that is aimed at the process then never strikes, which is an error of the
// test, if that is so in all seeds; so it is with what a fault or a crash waits for.
func TestFaultsOfNobody(t *testing.T) {
	ask := func(env *simtest.Env, client string, from uint64) {
		env.Go("controller", func(ctx context.Context) error {
			if env.Seed() >= from {
				mirrorOnce(ctx, env, client)
			}
			<-ctx.Done()
			return nil
		})
	}
	aim := map[string]func(env *simtest.Env){
		"target":  func(env *simtest.Env) { env.Inject(fault.Fault{Kind: fault.List500, Target: "controller"}) },
		"faults":  func(env *simtest.Env) { env.Faults(fault.Fault{Kind: fault.List500, Target: "conn/controller"}) },
		"trigger": func(env *simtest.Env) { env.CrashAfter("controller", fault.Trigger{Event: fault.TriggerRequest}) },
		"after": func(env *simtest.Env) {
			env.Inject(fault.Fault{Kind: fault.Compact, After: &fault.Trigger{Event: fault.TriggerRequest, Client: "controller"}})
		},
	}
	for name, inject := range aim {
		t.Run(name, func(t *testing.T) {
			o := simtest.Options{Seeds: 2, Mix: "none"}
			body := func(client string, from uint64) func(env *simtest.Env) {
				return func(env *simtest.Env) {
					ask(env, client, from)
					inject(env)
					env.Advance(time.Minute)
				}
			}
			wantIn(t, failure(t, o, body("manager", 1)), `faults are aimed at the client "controller", which has made no request in 2 seeds`, "those that have made requests are manager")
			simtest.Run(t, o, body("controller", 1))
			simtest.Run(t, o, body("controller", 2)) // one seed is enough
		})
	}
}

// mirrorOnce lists ConfigMaps.
func mirrorOnce(ctx context.Context, env *simtest.Env, client string) {
	if c, err := kubernetes.NewForConfig(env.RESTConfig(client)); err == nil {
		_, _ = c.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{})
	}
}
