package simtest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// labelsSeen is a controller whose handler labels what it is told of: the object itself, which the cache and all other handlers have, or a copy.
func labelsSeen(ctx context.Context, env *simtest.Env, copied bool) error {
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(env.RESTConfig("labels")), 0)
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		m := obj.(*corev1.ConfigMap)
		if copied {
			m = m.DeepCopy()
		}
		m.Labels = map[string]string{"seen": "true"}
	}})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	<-ctx.Done()
	return nil
}

func labelled(t *testing.T, o simtest.Options, copied bool) {
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Go("labels", func(ctx context.Context) error { return labelsSeen(ctx, env, copied) })
		env.Create(configMap("a", "0"))
		env.Settle()
		env.Advance(2 * time.Second)
	})
}

// The environment of a child: what it does.
const mutationsEnv = "SIMTEST_TEST_MUTATIONS"

// A program that changes what is in its cache dies of client-go's mutation detector, in every fourth run, and is told what to do; so is it in a replay of the trace. One that
// changes copies passes, and so does either where the detector is off.
func TestMutatedCachesAreFound(t *testing.T) {
	aside(t)
	if isChild() {
		o := simtest.Options{Seeds: 4, CrashProbability: -1}
		switch os.Getenv(mutationsEnv) {
		case "off":
			o.MutationDetector = simtest.Off
		case "on":
			o.MutationDetector, o.Mix = simtest.On, "none"
		}
		labelled(t, o, os.Getenv(fixedEnv) != "")
		return
	}
	advice := []string{"CACHE *v1.ConfigMap[0] ALTERED!", "panic: cache *v1.ConfigMap modified", "change a copy (DeepCopy)", "Options.MutationDetector says in which runs"}
	dir := t.TempDir()
	out, err := childIn(t, dir)
	if err == nil {
		t.Fatalf("a changed cache passes:\n%s", out)
	}
	wantIn(t, out, append(advice, "the process died during a run: "+t.Name()+", seed 3", "TestMutatedCachesAreFound-3.trace.jsonl", "FAIL  the process died: panic: cache *v1.ConfigMap modified", "shrunk from ")...)
	out, err = childIn(t, dir) // which replays that trace first
	if err == nil {
		t.Fatalf("the trace of a changed cache passes:\n%s", out)
	}
	wantIn(t, out, append(advice, "replaying testdata/simtest/TestMutatedCachesAreFound-3.trace.jsonl")...)
	out, err = childIn(t, t.TempDir(), mutationsEnv+"=on")
	if err == nil {
		t.Fatalf("a changed cache passes with the option:\n%s", out)
	}
	wantIn(t, out, append(advice, "seed 1")...)
	for _, env := range []string{mutationsEnv + "=off", "SIMTEST_MUTATIONS=off", fixedEnv + "=1"} {
		if out, err := childIn(t, t.TempDir(), env); err != nil || strings.Contains(out, "ALTERED") {
			t.Errorf("%s: %v\n%s", env, err, out)
		}
	}
}

// A failure of a seed without the detector says what that finds in the seed, since it may be the reason; and nothing where copies are changed, or the test wants no detector.
func TestFailureTellsOfMutatedCaches(t *testing.T) {
	aside(t)
	if isChild() {
		o := simtest.Options{Seeds: 1, Mix: "none"}
		if os.Getenv(mutationsEnv) == "off" {
			o.MutationDetector = simtest.Off
		}
		simtest.Run(t, o, func(env *simtest.Env) {
			env.Go("labels", func(ctx context.Context) error { return labelsSeen(ctx, env, os.Getenv(fixedEnv) != "") })
			env.Create(configMap("a", "0"))
			env.Eventually("the labels are there", time.Minute, func() error {
				m := configMap("a", "")
				if err := env.Get(m); err != nil || m.Labels["seen"] != "" {
					return err
				}
				return errors.New("it has none")
			})
		})
		return
	}
	const says = "this may be why: the program changes an object in the cache of an informer, in place of a copy (DeepCopy). " +
		"With -simtest.mutations=on, client-go's mutation detector ends the process in this seed: panic: cache *v1.ConfigMap modified"
	for env, told := range map[string]bool{"": true, mutationsEnv + "=off": false, fixedEnv + "=1": false} {
		dir := t.TempDir()
		out, err := childIn(t, dir, env)
		if err == nil || !strings.Contains(out, "FAIL  the labels are there") || strings.Contains(out, says) != told {
			t.Errorf("%q: %v\n%s", env, err, out)
		}
		page, err := os.ReadFile(filepath.Join(dir, "testdata", "simtest", t.Name()+"-1.html"))
		if err != nil || strings.Contains(string(page), "this may be why: the program changes an object") != told {
			t.Errorf("%q: the page says it, or not: %v", env, err)
		}
		if !told {
			continue
		}
		if out, err := childIn(t, dir); err == nil || !strings.Contains(out, says) {
			t.Errorf("replayed: %v\n%s", err, out)
		}
	}
}
