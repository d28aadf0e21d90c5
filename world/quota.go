package world

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/quotas"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

var kindCountQuota = sim.RegisterKind("count-quota", sim.ClassAction) // the quota controller counts what one quota limits

// quotaClient is the quota controller's client.
const quotaClient = "quota-controller"

// quotaController counts what the ResourceQuotas limit, the actor "quota". The server takes from a quota what is created; what is deleted, and a
// new limit, are this one's. It appears with the first quota: a run without one is as if it did not exist.
type quotaController struct {
	w      *world
	limits *quotas.Quotas
	id     store.ResourceID
	work   *backlog[string] // "namespace/name"; nil before the first quota
}

// recount is how often all is counted again, as by kube-controller-manager (--resource-quota-sync-period).
const recount = 5 * time.Minute

func newQuotaController(w *world, limits *quotas.Quotas) {
	q := &quotaController{w: w, limits: limits}
	var served bool
	if q.id, served = w.cluster.FindResource(quotas.Resource); served {
		w.cluster.OnCommit(q.committed)
		w.cluster.OnRestore(func() {
			if q.work != nil {
				q.countAll("")
			}
		})
	}
}

func (q *quotaController) committed(id store.ResourceID, v store.Committed) {
	m, ok := v.Object.(metav1.Object)
	switch {
	case !ok:
	case id == q.id:
		if !v.Deleted {
			q.begin()
			q.work.add(v.Key)
		}
	case q.work == nil || m.GetNamespace() == "":
	default:
		var obj runtime.Object
		if !v.Deleted {
			obj = v.Object
		}
		if quotas.Frees(q.w.cluster.Store().Resource(id).GroupResource(), v.Old, obj) {
			q.countAll(m.GetNamespace())
		}
	}
}

// begin brings the controller into being.
func (q *quotaController) begin() {
	if q.work != nil {
		return
	}
	q.work = newBacklog(q.w, "quota", quotaClient, kindCountQuota, q.count)
	var again func()
	again = func() {
		q.countAll("")
		q.w.kernel.Clock().AfterFunc(recount, again)
	}
	q.w.kernel.Clock().AfterFunc(recount, again)
}

// countAll has all quotas of a namespace counted, or all of all.
func (q *quotaController) countAll(namespace string) {
	s := q.w.cluster.Store()
	s.Newest(q.id, namespace, func(key string, _ runtime.Object) bool {
		q.work.add(key)
		return true
	})
}

// count counts what one quota limits, and writes it down if it has changed.
func (q *quotaController) count(key string) {
	namespace, name, _ := strings.Cut(key, "/")
	obj, _ := q.w.cluster.Store().Get(q.id, namespace, name)
	quota, ok := obj.(*corev1.ResourceQuota)
	if !ok {
		return // it is gone
	}
	counted, err := q.limits.Count(quota, q.w.cluster.Now(), q.list)
	if err == nil && counted == nil {
		return
	}
	var data []byte
	if err == nil {
		counted.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ResourceQuota"))
		data, err = json.Marshal(counted)
	}
	if err != nil {
		q.w.kernel.Fail(err)
		return
	}
	path := "/api/v1/namespaces/" + namespace + "/resourcequotas/" + name + "/status"
	q.work.request(http.MethodPut, path, "application/json", data, func() { q.work.add(key) })
}

// list returns the objects of a resource.
func (q *quotaController) list(gr schema.GroupResource) (all []runtime.Object) {
	id, ok := q.w.cluster.FindResource(gr)
	if !ok {
		return nil
	}
	s := q.w.cluster.Store()
	s.Newest(id, "", func(_ string, obj runtime.Object) bool {
		all = append(all, obj)
		return true
	})
	return all
}
