package patch_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"

	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

func builtin(t testing.TB, plural string) *types.Resource {
	t.Helper()
	for _, r := range kinds.Resources(kinds.Options{}) {
		if r.Plural == plural {
			return r
		}
	}
	t.Fatalf("no resource %s", plural)
	return nil
}

var noon = time.Date(2030, 5, 5, 12, 0, 0, 0, time.UTC)

func request(r *types.Resource, name string, now time.Time) patch.Request {
	q := patch.Request{Resource: r, Name: name, UserAgent: "kubectl/v1.37.2 (linux/amd64)", System: types.System{UID: "u-1", Now: now, Suffix: "bcdfg"}}
	if r.Namespaced {
		q.Namespace = "default"
	}
	return q
}

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"a":"b"}},"spec":{"replicas":2,
"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},
"spec":{"containers":[{"name":"x","image":"x:1"},{"name":"y","image":"y:1"}]}}}}`

// created creates a live object from a body.
func created(t testing.TB, w *patch.Writer, r *types.Resource, body string) runtime.Object {
	t.Helper()
	result, err := w.Create(request(r, "", noon), types.Body{Data: []byte(body)}, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !result.Created || len(result.Warnings) > 0 {
		t.Fatalf("created %v, warnings %q", result.Created, result.Warnings)
	}
	result.Object.(metav1.Object).SetResourceVersion("7")
	return result.Object
}

func TestStrategicMergePatchMergesContainersByName(t *testing.T) {
	w, r := patch.NewWriter(), builtin(t, "deployments")
	live := created(t, w, r, deployment)
	before := live.DeepCopyObject()
	result, err := w.Patch(request(r, "d", noon), live, string(apitypes.StrategicMergePatchType),
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"y","image":"y:2"}]}}}}`), &metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := result.Object.(*appsv1.Deployment)
	if c := d.Spec.Template.Spec.Containers; len(c) != 2 || c[0].Name != "y" && c[1].Name != "y" || d.Generation != 2 {
		t.Errorf("patched to generation %d, containers %+v", d.Generation, c)
	}
	if !reflect.DeepEqual(live, before) {
		t.Error("the live object was changed")
	}
}

func TestApplyOfBuiltinTypesTracksAndConflicts(t *testing.T) {
	w, r := patch.NewWriter(), builtin(t, "deployments")
	apply := func(live runtime.Object, manager string, force bool, replicas int, now time.Time) (patch.Result, error) {
		body := fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":%d,`+
			`"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"x","image":"x:1"}]}}}}`, replicas)
		return w.Patch(request(r, "d", now), live, string(apitypes.ApplyYAMLPatchType), []byte(body), &metav1.PatchOptions{FieldManager: manager, Force: &force})
	}
	first, err := apply(nil, "one", false, 1, noon)
	if err != nil {
		t.Fatal(err)
	}
	if !first.Created {
		t.Error("an apply of nothing did not create")
	}
	live := first.Object
	live.(metav1.Object).SetResourceVersion("7")
	if _, err := apply(live, "two", false, 2, noon); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "one": .spec.replicas`) {
		t.Errorf("the second manager got %v", err)
	}
	forced, err := apply(live, "two", true, 2, noon.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	// The first manager has lost nothing but the replicas, so its entry stays.
	entries := forced.Object.(metav1.Object).GetManagedFields()
	if len(entries) != 2 || entries[1].Manager != "two" || !entries[1].Time.Time.Equal(noon.Add(time.Hour)) ||
		strings.Contains(string(entries[0].FieldsV1.Raw), "f:replicas") {
		t.Errorf("managedFields are %+v", entries)
	}
	same, err := apply(forced.Object, "two", false, 2, noon.Add(2*time.Hour))
	if err != nil || !same.Unchanged {
		t.Errorf("the same apply again: unchanged %v, %v", same.Unchanged, err)
	}
}

// Times of managedFields come from the virtual clock, whatever the real time: also before 1970 and after today.
func TestManagedFieldsHaveVirtualTimes(t *testing.T) {
	for _, start := range []time.Time{{}, time.Unix(0, 0), time.Date(1931, 1, 1, 0, 0, 0, 0, time.UTC), noon, time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		w, r := patch.NewWriter(), builtin(t, "configmaps")
		now := start.Add(time.Second)
		live, err := w.Create(request(r, "", now), types.Body{Data: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}}`)}, &metav1.CreateOptions{FieldManager: "a"})
		if err != nil {
			t.Fatal(err)
		}
		obj := live.Object
		obj.(metav1.Object).SetResourceVersion("7")
		for i, manager := range []string{"b", "c", "d"} {
			now = now.Add(time.Minute)
			result, err := w.Patch(request(r, "c", now), obj, string(apitypes.MergePatchType), []byte(`{"data":{"k`+manager+`":"1"}}`), &metav1.PatchOptions{FieldManager: manager})
			if err != nil {
				t.Fatal(err)
			}
			obj = result.Object
			entries := obj.(metav1.Object).GetManagedFields()
			if len(entries) != i+2 {
				t.Fatalf("from %v: %d entries after %d writes", start, len(entries), i+2)
			}
			for j, e := range entries {
				if want := start.Add(time.Second + time.Duration(j)*time.Minute); !e.Time.Time.Equal(want) {
					t.Errorf("from %v: entry %d of %s has time %v, want %v", start, j, e.Manager, e.Time, want)
				}
			}
		}
	}
}

func TestScaleOfBuiltins(t *testing.T) {
	w, r := patch.NewWriter(), builtin(t, "deployments")
	live := created(t, w, r, deployment)
	q := request(r, "d", noon)
	q.Subresource = types.Scale
	result, err := w.Patch(q, live, string(apitypes.MergePatchType), []byte(`{"spec":{"replicas":5}}`), &metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d := result.Object.(*appsv1.Deployment); *d.Spec.Replicas != 5 || d.Generation != 2 {
		t.Errorf("scaled to %d, generation %d", *d.Spec.Replicas, d.Generation)
	}
	shown, err := r.Strategy.(types.Storage).Show(types.Scale, result.Object)
	if err != nil {
		t.Fatal(err)
	}
	if scale := shown.(*autoscalingv1.Scale); scale.Spec.Replicas != 5 || scale.Status.Selector != "app=d" {
		t.Errorf("the scale is %+v", scale)
	}
	put := fmt.Sprintf(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d","resourceVersion":"6"},"spec":{"replicas":%d}}`, 1)
	if _, err := w.Update(q, live, types.Body{Data: []byte(put)}, &metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a stale scale got %v", err)
	}
}

// A PUT without a resourceVersion updates any version, for most built-in kinds (S3).
func TestUnconditionalUpdate(t *testing.T) {
	w, r := patch.NewWriter(), builtin(t, "deployments")
	live := created(t, w, r, deployment)
	result, err := w.Update(request(r, "d", noon), live, types.Body{Data: []byte(strings.Replace(deployment, `"replicas":2`, `"replicas":3`, 1))}, &metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d := result.Object.(*appsv1.Deployment); d.ResourceVersion != "7" || *d.Spec.Replicas != 3 || d.UID != "u-1" {
		t.Errorf("updated to %+v", d.ObjectMeta)
	}
	lease := builtin(t, "leases")
	liveLease := created(t, w, lease, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"}}`)
	_, err = w.Update(request(lease, "l", noon), liveLease, types.Body{Data: []byte(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"}}`)}, &metav1.UpdateOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("an unconditional update of a lease got %v", err)
	}
	upsert, err := w.Update(request(lease, "l", noon), nil, types.Body{Data: []byte(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"}}`)}, &metav1.UpdateOptions{})
	if err != nil || !upsert.Created {
		t.Errorf("an update of an absent lease: created %v, %v", upsert.Created, err)
	}
}

// The object is deleted with its last finalizer (S18).
func TestLastFinalizerDeletes(t *testing.T) {
	w, r := patch.NewWriter(), builtin(t, "configmaps")
	live := created(t, w, r, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","finalizers":["example.com/f","example.com/g"]}}`).(*corev1.ConfigMap)
	at, grace := metav1.NewTime(noon), int64(0)
	live.DeletionTimestamp, live.DeletionGracePeriodSeconds = &at, &grace
	for _, c := range []struct {
		finalizers string
		gone       bool
	}{{`["example.com/f"]`, false}, {`null`, true}} {
		result, err := w.Patch(request(r, "c", noon), live, string(apitypes.MergePatchType), []byte(`{"metadata":{"finalizers":`+c.finalizers+`}}`), &metav1.PatchOptions{})
		if err != nil || result.Delete != c.gone {
			t.Errorf("finalizers %s: delete %v, %v", c.finalizers, result.Delete, err)
		}
	}
}

func TestManagerName(t *testing.T) {
	for _, c := range []struct{ fieldManager, agent, want string }{
		{"me", "kubectl/v1", "me"},
		{"", "kubectl/v1.37.2 (linux)", "kubectl"},
		{"", "no slash", "no slash"},
		{"", "", ""},
		{"", "a\x01b/c", "ab"},
		{"", strings.Repeat("é", 100), strings.Repeat("é", 64)},
	} {
		if got := patch.ManagerName(c.fieldManager, c.agent); got != c.want {
			t.Errorf("ManagerName(%q, %q) = %q, want %q", c.fieldManager, c.agent, got, c.want)
		}
	}
}

// Conflicts with several managers come in a fixed order.
func TestConflictsAreInOrder(t *testing.T) {
	w, r := patch.NewWriter(), builtin(t, "configmaps")
	obj := created(t, w, r, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`)
	for _, manager := range []string{"z", "m", "a", "q"} {
		result, err := w.Patch(request(r, "c", noon), obj, string(apitypes.MergePatchType), []byte(`{"data":{"`+manager+`1":"x","`+manager+`2":"x"}}`), &metav1.PatchOptions{FieldManager: manager})
		if err != nil {
			t.Fatal(err)
		}
		obj = result.Object
	}
	want := ""
	for range 20 {
		_, err := w.Patch(request(r, "c", noon), obj, string(apitypes.ApplyYAMLPatchType),
			[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a1":"","a2":"","m1":"","q2":"","z1":""}}`), &metav1.PatchOptions{FieldManager: "new"})
		status, ok := err.(apierrors.APIStatus)
		if !ok {
			t.Fatalf("got %v, want a conflict", err)
		}
		text, jsonErr := json.Marshal(status.Status())
		if jsonErr != nil {
			t.Fatal(jsonErr)
		}
		if want == "" {
			want = string(text)
		}
		if string(text) != want {
			t.Fatalf("conflicts differ:\n%s\n%s", text, want)
		}
	}
}
