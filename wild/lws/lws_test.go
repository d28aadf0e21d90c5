package lws_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	lwsv1 "sigs.k8s.io/lws/api/leaderworkerset/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	"github.com/informersim/informersim/wild/lws"
)

const (
	asWanted = "each LeaderWorkerSet has its Pods, and no other has any"
	isReady  = "a LeaderWorkerSet whose Pods are ready is available"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(simtest.Logger())
	os.Exit(m.Run())
}

// In the end each LeaderWorkerSet has as many groups as it asks for, of the size that it asks for, whatever is created, scaled, rolled out and deleted (lws.sigs.k8s.io/docs/concepts). What it says of them is a finding of its own.
func TestLeaderWorkerSets(t *testing.T) {
	o := options(t)
	var except []simtest.Exception
	for _, p := range []string{simtest.NoForgottenChange, simtest.QuietAfterRestart} {
		except = append(except, simtest.Exception{Property: p, Client: "lws", Object: "leaderworkersets", Why: "TestReadyReplicasStayWrong"})
	}
	o.Properties = simtest.WellBehaved(except...)
	simtest.Run(t, o, func(env *simtest.Env) {
		setUp(env)
		for n := range 8 {
			change(env, n)
			env.Advance(time.Duration(env.Rand().IntN(40)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
}

// The status is counted when a StatefulSet changes, from what the cache of Pods has then. Nobody looks again when that learns of more (SetupWithManager, updateConditions): here the watch of Pods falls behind by half a minute.
func TestReadyReplicasStayWrong(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		s := podsComeLate(env)
		env.Eventually(isReady, time.Hour, func() error {
			if err := env.Get(s); err != nil || s.Status.ReadyReplicas != 1 {
				return errors.Join(err, fmt.Errorf("it says that %d of %d groups are ready, and %v", s.Status.ReadyReplicas, s.Status.Replicas, s.Status.Conditions))
			}
			return nil
		})
	})
	hasFound(t, found, isReady, "it says that 0 of 1 groups are ready")
}

// Without a word of what is to hold, the same is found by what the controller writes once its informers have listed anew.
func TestReadyReplicasAreForgotten(t *testing.T) {
	found := find(t, simtest.WellBehaved(), func(env *simtest.Env) {
		podsComeLate(env)
		env.Advance(5 * time.Minute)
	})
	hasFound(t, found, simtest.NoForgottenChange, "leaderworkersets default/a")
}

// podsComeLate creates a LeaderWorkerSet with one Pod, of which the controller's cache hears late.
func podsComeLate(env *simtest.Env) *lwsv1.LeaderWorkerSet {
	setUp(env)
	env.Inject(fault.Fault{Kind: fault.WatchDelay, Target: "lws", Resource: "pods", Count: fault.Lasting, Duration: 30 * time.Second, Until: time.Minute})
	s := newSet("a", 1, 1)
	env.Create(s)
	env.Advance(2 * time.Minute)
	env.StopFaults()
	return s
}

func find(t *testing.T, ready []simtest.Property, body func(env *simtest.Env)) *simtest.Finding {
	t.Helper()
	o := options(t)
	o.Mix, o.Stages, o.Properties = "none", []string{"pod"}, ready
	return simtest.Find(t, o, body)
}

func hasFound(t *testing.T, found *simtest.Finding, property, message string) {
	t.Helper()
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != property || !strings.Contains(found.Message, message) {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// options have the CustomResourceDefinitions and the webhooks that the project releases, and two Nodes.
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/lws").Output()
	if err != nil {
		t.Fatal(err)
	}
	c := filepath.Join(strings.TrimSpace(string(dir)), "config")
	return simtest.Options{
		Scheme: lws.NewScheme(), CRDs: []string{filepath.Join(c, "crd", "bases")},
		Webhooks: simtest.Webhooks{Configurations: []string{filepath.Join(c, "webhook", "manifests.yaml")}},
		Nodes:    2, Controllers: []string{"statefulset"}, GarbageCollection: true,
	}
}

func setUp(env *simtest.Env) {
	env.Go("lws", func(ctx context.Context) error {
		return lws.Run(ctx, env.RESTConfig("lws"), func(h http.Handler) { env.ServeWebhooks("lws", h) })
	})
	env.Advance(time.Second) // nothing is created before its webhook serves
}

// newSet has groups of a leader and its workers, all alike.
func newSet(name string, replicas, size int32) *lwsv1.LeaderWorkerSet {
	s := &lwsv1.LeaderWorkerSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	s.Spec.Replicas = &replicas
	s.Spec.StartupPolicy = lwsv1.LeaderCreatedStartupPolicy
	s.Spec.LeaderWorkerTemplate.Size = &size
	s.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers = []corev1.Container{{Name: "c", Image: "image"}}
	return s
}

// change creates a LeaderWorkerSet, or deletes, scales or rolls out one.
func change(env *simtest.Env, n int) {
	var all lwsv1.LeaderWorkerSetList
	if err := env.List(&all, ""); err != nil || len(all.Items) < 2 {
		env.Create(newSet(fmt.Sprintf("s%d", n), 1+env.Rand().Int32N(3), 1+env.Rand().Int32N(3)))
		return
	}
	s := &all.Items[env.Rand().IntN(len(all.Items))]
	switch env.Rand().IntN(4) {
	case 0:
		env.Delete(s)
	case 1:
		env.Mutate(s, func() { s.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = fmt.Sprint("image", n) })
	default:
		env.Mutate(s, func() { s.Spec.Replicas = ptr.To(env.Rand().Int32N(4)) })
	}
}

func agree(env *simtest.Env) error {
	var all lwsv1.LeaderWorkerSetList
	var pods corev1.PodList
	if err := errors.Join(env.List(&all, ""), env.List(&pods, "")); err != nil {
		return err
	}
	want := 0
	for _, s := range all.Items {
		have := 0
		for _, p := range pods.Items {
			if p.Labels[lwsv1.SetNameLabelKey] == s.Name {
				have++
			}
		}
		n := int(*s.Spec.Replicas * *s.Spec.LeaderWorkerTemplate.Size)
		want += n
		if have != n {
			return fmt.Errorf("%s is to have %d groups of %d, and has %d Pods; it says %v", s.Name, *s.Spec.Replicas, *s.Spec.LeaderWorkerTemplate.Size, have, s.Status.Conditions)
		}
	}
	if len(pods.Items) != want {
		return fmt.Errorf("there are %d Pods, want %d", len(pods.Items), want)
	}
	return nil
}
