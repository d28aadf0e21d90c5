package patch_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// trackedKinds are objects to change, and the changes: merge patches, to the resource or to its status. A value is there more than once, so that
// it may stay, change, come back, become empty or go.
var trackedKinds = []struct {
	plural, body string
	changes      []string
}{
	{"configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},"data":{"a":"1"}}`, []string{
		`{"data":{"a":"1"}}`, `{"data":{"a":"2"}}`, `{"data":{"a":""}}`, `{"data":{"a":null}}`, `{"data":null}`, `{"data":{"b":"1"}}`, `{"binaryData":{"c":"AQ=="}}`, `{"binaryData":{"c":""}}`,
		`{"binaryData":{"c":null}}`, `{"metadata":{"labels":{"a":"x"}}}`, `{"metadata":{"labels":{"a":""}}}`, `{"metadata":{"labels":null}}`, `{"metadata":{"annotations":{"a":"{}"}}}`,
		`{"metadata":{"finalizers":["a/b"]}}`, `{"metadata":{"finalizers":["a/c","a/b"]}}`, `{"metadata":{"finalizers":null}}`, `{"metadata":{"managedFields":[{}]}}`, `{"metadata":{"managedFields":[]}}`,
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"1"}]}}`, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"2"}]}}`,
	}},
	{"deployments", deployment, []string{
		`{"spec":{"replicas":3}}`, `{"spec":{"replicas":0}}`, `{"spec":{"paused":true}}`, `{"spec":{"paused":false}}`, `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}`,
		`{"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"10%"}}}}`, `{"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"x","image":"x:2"}]}}}}`, `{"spec":{"template":{"spec":{"containers":[{"name":"z","image":"x:2"},{"name":"x","image":"x:1","env":[{"name":"A","value":"1"}]}]}}}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"x","image":"x:2","resources":{"limits":{"cpu":"1"}}}]}}}}`, `{"spec":{"template":{"spec":{"containers":[{"name":"x","image":"x:2","resources":{"limits":{"cpu":"1000m"}}}]}}}}`,
		`{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`, `{"spec":{"template":{"spec":{"nodeSelector":{"a":"c"}}}}}`, `{"spec":{"template":{"spec":{"securityContext":{"runAsUser":0}}}}}`,
		`status {"status":{"replicas":1}}`, `status {"status":{"replicas":0}}`, `status {"status":{"conditions":[{"type":"A","status":"True","lastUpdateTime":"2030-05-05T12:00:00Z"}]}}`,
		`status {"status":{"conditions":[{"type":"A","status":"True","lastUpdateTime":"2030-05-05T12:00:01Z"}]}}`, `status {"status":{"conditions":[{"type":"B","status":"True"},{"type":"A","status":"False"}]}}`,
		`status {"status":{"conditions":[{"type":"B","status":"True","lastUpdateTime":"2030-05-05T12:00:01Z"},{"type":"A","status":"False","lastUpdateTime":"2030-05-05T12:00:01Z"}]}}`,
	}},
	{"leases", `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"d"},"spec":{}}`, []string{
		`{"spec":{"renewTime":"2030-05-05T12:00:00.000001Z"}}`, `{"spec":{"renewTime":"2030-05-05T12:00:00.000002Z"}}`, `{"spec":{"renewTime":null}}`, `{"spec":{"holderIdentity":"a"}}`, `{"spec":{"holderIdentity":"b"}}`,
		`{"spec":{"leaseDurationSeconds":1}}`, `{"spec":{"leaseDurationSeconds":2}}`, `{"spec":{"acquireTime":"2030-05-05T12:00:00.000001Z"}}`,
	}},
	{"horizontalpodautoscalers", `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"d"},"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"x"}}}`, []string{
		`{"spec":{"maxReplicas":3}}`, `{"spec":{"minReplicas":2}}`, `{"spec":{"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}}}}`, `{"spec":{"behavior":null}}`,
		`{"spec":{"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":1}}}]}}`, `{"spec":{"metrics":null}}`,
		`status {"status":{"currentReplicas":1,"desiredReplicas":1}}`, `status {"status":{"lastScaleTime":"2030-05-05T12:00:00Z"}}`, `status {"status":{"lastScaleTime":"2030-05-05T12:00:01Z"}}`,
	}},
}

// What is known about similar writes is what the library says about each: after any changes, a Writer with a cache and one without have the same result.
func TestKnownManagedFields(t *testing.T) {
	all := map[string][]*types.Resource{} // in all versions, for fields are converted where they were set in another one
	for _, r := range kinds.Resources(kinds.Options{}) {
		all[r.Plural] = append(all[r.Plural], r)
	}
	known := patch.NewWriter()
	rapid.Check(t, func(t *rapid.T) {
		k := trackedKinds[rapid.IntRange(0, len(trackedKinds)-1).Draw(t, "kind")]
		now := noon
		live := made(t, known, all[k.plural][0], k.body)
		for i := range rapid.IntRange(10, 40).Draw(t, "changes") {
			now = now.Add(time.Second)
			subresource, change := "", rapid.SampledFrom(k.changes).Draw(t, "change")
			if rest, found := strings.CutPrefix(change, "status "); found {
				subresource, change = types.Status, rest
			}
			q := request(rapid.SampledFrom(all[k.plural]).Draw(t, "version"), "d", now)
			q.Subresource = subresource
			o := &metav1.PatchOptions{FieldManager: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "manager")}
			got, err := known.Patch(q, live.DeepCopyObject(), string(apitypes.MergePatchType), []byte(change), o)
			want, wantErr := patch.NewWriter().Patch(q, live.DeepCopyObject(), string(apitypes.MergePatchType), []byte(change), o)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || !reflect.DeepEqual(got, want) {
				t.Fatalf("change %d, %s:\ngot  %v %v\nwant %v %v", i, change, got.Object, err, want.Object, wantErr)
			}
			outcomes := patch.Known(known)
			if _, _ = known.Patch(q, live.DeepCopyObject(), string(apitypes.MergePatchType), []byte(change), o); patch.Known(known) != outcomes {
				t.Fatalf("change %d, %s, was not known when it came again", i, change)
			}
			if err == nil {
				live = got.Object
				live.(metav1.Object).SetResourceVersion("7")
			}
		}
	})
	if patch.Known(known) == 0 {
		t.Error("nothing is known")
	}
}

func made(t *rapid.T, w *patch.Writer, r *types.Resource, body string) runtime.Object {
	result, err := w.Create(request(r, "", noon), types.Body{Data: []byte(body)}, &metav1.CreateOptions{FieldManager: "a"})
	if err != nil {
		t.Fatal(err)
	}
	result.Object.(metav1.Object).SetResourceVersion("7")
	return result.Object
}
