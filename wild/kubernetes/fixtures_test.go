package kubernetes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/transport"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

// start starts each controller in a process of its own, as if each had its own kube-controller-manager.
func start(env *simtest.Env, name string, setup wild.Setup, wrap ...transport.WrapperFunc) {
	env.Go(name, func(ctx context.Context) error {
		cfg := env.RESTConfig(name)
		for _, w := range wrap {
			cfg.Wrap(w)
		}
		return wild.Run(ctx, cfg, setup)
	})
}

// startAnew ends the faults and, a minute later, starts controllers again, which then look at everything: what they had forgotten by then is not judged.
func startAnew(env *simtest.Env, names ...string) {
	env.StopFaults()
	env.Advance(time.Minute)
	for _, name := range names {
		env.Restart(name)
	}
}

// failedCreates counts the requests to create something of which a client cannot know whether they did.
type failedCreates struct{ n map[string]int }

func (f *failedCreates) of(resource string) int { return f.n[resource] }

// watch is a transport.WrapperFunc. The goroutines of a run take turns, so it needs no lock.
func (f *failedCreates) watch(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if r.Method == http.MethodPost && (err != nil || resp.StatusCode >= http.StatusInternalServerError) {
			if f.n == nil {
				f.n = map[string]int{}
			}
			f.n[path.Base(r.URL.Path)]++
		}
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// pause lets up to that much time pass.
func pause(env *simtest.Env, most time.Duration) {
	env.Advance(time.Duration(env.Rand().Int64N(int64(most))))
}

// template is that of Pods with those labels.
func template(labels map[string]string, policy corev1.RestartPolicy) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{RestartPolicy: policy, Containers: []corev1.Container{{Name: "main", Image: "main:1"}}},
	}
}

// podsOf returns the Pods that an owner controls.
func podsOf(env *simtest.Env, owner types.UID) ([]corev1.Pod, error) {
	var all corev1.PodList
	if err := env.List(&all, ""); err != nil {
		return nil, err
	}
	var pods []corev1.Pod
	for _, p := range all.Items {
		if c := metav1.GetControllerOf(&p); c != nil && c.UID == owner {
			pods = append(pods, p)
		}
	}
	return pods, nil
}

// isActive reports whether a Pod counts as a replica: it has not ended, and nobody has deleted it.
func isActive(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// isAvailable reports whether an active Pod counts as available, with a minReadySeconds of 0.
func isAvailable(p *corev1.Pod) bool { return p.DeletionTimestamp == nil && isReady(p) }

// wantFound wants a property to break.
func wantFound(t *testing.T, o simtest.Options, body func(*simtest.Env), property string) {
	t.Helper()
	found := simtest.Find(t, o, body)
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != property {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// wake lets expectations time out (five minutes), and changes an object, so that its controller looks at it again.
func wake(env *simtest.Env, obj simtest.Object) {
	env.Advance(6 * time.Minute)
	env.Mutate(obj, func() {
		notes := maps.Clone(obj.GetAnnotations())
		if notes == nil {
			notes = map[string]string{}
		}
		notes["example.com/note"] = env.Now().String()
		obj.SetAnnotations(notes)
	})
}

// missUpdates does something while a client's watch of Pods is down, for so long that the client has to list them afterwards.
func missUpdates(env *simtest.Env, client string, do func()) {
	missUpdatesOf(env, client, "pods", do, func(n int) simtest.Object {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("other-%d", n)},
			Spec:       template(nil, corev1.RestartPolicyAlways).Spec,
		}
	})
}

// missUpdatesOf does the same for another resource, of which it creates some objects: more than the watch cache keeps.
func missUpdatesOf(env *simtest.Env, client, resource string, do func(), other func(n int) simtest.Object) {
	env.Inject(
		fault.Fault{Kind: fault.WatchEOF, Target: client, Resource: resource},
		fault.Fault{Kind: fault.WatchOpen503, Target: client, Resource: resource, Count: fault.Lasting},
		fault.Fault{Kind: fault.List503, Target: client, Resource: resource, Count: fault.Lasting},
	)
	env.Settle()
	do()
	for n := range 4 {
		env.Create(other(n))
	}
	env.Inject(fault.Fault{Kind: fault.Compact})
	env.Advance(time.Second)
	env.StopFaults()
}

// remove deletes a Pod as kubectl delete --grace-period=0 does. It may have gone already, which env.Delete does not accept, and the request may fail.
func remove(env *simtest.Env, p *corev1.Pod) {
	client, err := kubernetes.NewForConfig(env.RESTConfig("user"))
	if err == nil {
		_ = client.CoreV1().Pods(p.Namespace).Delete(env.Context(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
	}
}

// relabel sets a Pod's labels as kubectl label does. The Pod may have gone already, and the request may fail.
func relabel(env *simtest.Env, p *corev1.Pod, labels map[string]string) {
	client, err := kubernetes.NewForConfig(env.RESTConfig("user"))
	if err != nil {
		return
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err == nil {
		_, _ = client.CoreV1().Pods(p.Namespace).Patch(env.Context(), p.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	}
}

// deleteNewest deletes the newest Pod that an owner controls.
func deleteNewest(env *simtest.Env, owner types.UID) {
	pods, err := podsOf(env, owner)
	if err != nil || len(pods) == 0 {
		return
	}
	newest := slices.MaxFunc(pods, func(a, b corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	env.Delete(&newest)
}

// gate sets one of Kubernetes' feature gates for the time of a test.
func gate(t *testing.T, feature featuregate.Feature, on bool) {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, feature, on)
}
