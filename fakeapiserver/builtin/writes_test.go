package builtin

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/informersim/informersim/fakeapiserver/types"
)

var noon = time.Date(2030, 5, 5, 12, 0, 0, 0, time.UTC)

// single is a server with objects of one resource.
type single struct {
	t    testing.TB
	r    *types.Resource
	objs []runtime.Object
	more map[string][]runtime.Object // other resources
	now  time.Time
}

func serve(t testing.TB, plural, version string) *single {
	return &single{t: t, r: lookup(t, plural, version), now: noon}
}

// list returns the objects of a resource, as types.Write has it.
func (o *single) list(gr schema.GroupResource, namespace string) []runtime.Object {
	all := o.more[gr.Resource]
	if gr == o.r.GroupResource() {
		all = o.objs
	}
	return slices.DeleteFunc(slices.Clone(all), func(obj runtime.Object) bool {
		m, err := meta.Accessor(obj)
		return err == nil && namespace != "" && m.GetNamespace() != namespace
	})
}

func (o *single) write(sub, name string) *types.Write {
	w := &types.Write{Subresource: sub, Name: name, System: types.System{UID: "u-1", Now: o.now, Suffix: "xxxxx"}, List: o.list}
	if o.r.Namespaced {
		w.Namespace = "ns"
	}
	for _, obj := range o.objs {
		if m, err := meta.Accessor(obj); err == nil && m.GetName() == name {
			w.Live = obj
		}
	}
	return w
}

func (o *single) storage() types.Storage { return o.r.Strategy.(types.Storage) }

func (o *single) decode(sub, body string) runtime.Object {
	o.t.Helper()
	obj, _, err := o.r.Decode(types.Body{Data: []byte(body), ContentType: types.YAML}, sub)
	if err != nil {
		o.t.Fatal(err)
	}
	return obj
}

// keep stores what an outcome says.
func (o *single) keep(name string, out types.Outcome) {
	var kept []runtime.Object
	for _, obj := range o.objs {
		if m, err := meta.Accessor(obj); err == nil && m.GetName() != name {
			kept = append(kept, obj)
		}
	}
	if out.Stored != nil && !out.Deleted {
		if m, err := meta.Accessor(out.Stored); err == nil {
			m.SetResourceVersion("7")
		}
		kept = append(kept, out.Stored)
	}
	o.objs = kept
}

func (o *single) create(body string) (runtime.Object, error) {
	o.t.Helper()
	obj := o.decode("", body)
	out, err := o.storage().Create(o.write("", ""), obj)
	if err == nil {
		m, _ := meta.Accessor(out.Stored)
		o.keep(m.GetName(), out)
	}
	return out.Stored, err
}

func (o *single) mustCreate(body string) runtime.Object {
	o.t.Helper()
	obj, err := o.create(body)
	if err != nil {
		o.t.Fatal(err)
	}
	return obj
}

func (o *single) update(sub, name string, change func(runtime.Object)) (types.Outcome, error) {
	out, err := o.storage().Update(o.write(sub, name), func(current runtime.Object) (runtime.Object, error) {
		change(current)
		return current, nil
	})
	if err == nil && (out.Stored != nil || out.Deleted) {
		o.keep(name, out)
	}
	return out, err
}

const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: {matchLabels: {a: b}},
 template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}}`

// Defaults, uid and time of a create; generations of updates of the spec and the status.
func TestCreateAndUpdate(t *testing.T) {
	s := serve(t, "deployments.apps", "v1")
	d := s.mustCreate(deployment).(*appsv1.Deployment)
	if d.UID != "u-1" || !d.CreationTimestamp.Time.Equal(noon) || d.Generation != 1 || *d.Spec.Replicas != 1 || d.Spec.Strategy.RollingUpdate.MaxSurge.String() != "25%" {
		t.Errorf("created %+v", d)
	}
	out, err := s.update("", "d", func(obj runtime.Object) { *obj.(*appsv1.Deployment).Spec.Replicas = 3 })
	if d := out.Stored.(*appsv1.Deployment); err != nil || d.Generation != 2 || d.ResourceVersion != "7" {
		t.Errorf("updated %+v, %v", d, err)
	}
	out, err = s.update("status", "d", func(obj runtime.Object) {
		obj.(*appsv1.Deployment).Status.Replicas, *obj.(*appsv1.Deployment).Spec.Replicas = 9, 9
	})
	if d := out.Stored.(*appsv1.Deployment); err != nil || d.Generation != 2 || d.Status.Replicas != 9 || *d.Spec.Replicas != 3 {
		t.Errorf("status updated %+v, %v", d, err)
	}
	out, err = s.update("", "d", func(runtime.Object) {})
	if err != nil || out.Stored != nil || out.Answer != nil {
		t.Errorf("an update that changes nothing is %+v, %v", out, err)
	}
	_, err = s.update("", "d", func(obj runtime.Object) { obj.(*appsv1.Deployment).Spec.Selector.MatchLabels["a"] = "c" })
	if err == nil || !strings.Contains(err.Error(), "field is immutable") {
		t.Errorf("a change of the selector: %v", err)
	}
	if _, err := s.update("", "gone", func(runtime.Object) {}); !apierrors.IsNotFound(err) {
		t.Errorf("an update of nothing: %v", err)
	}
}

// A Job's labels have the uid that it gets.
func TestJobHasItsUID(t *testing.T) {
	j := serve(t, "jobs.batch", "v1").mustCreate(`{apiVersion: batch/v1, kind: Job, metadata: {generateName: j-}, spec: {template: {spec: {restartPolicy: Never,
 containers: [{name: c, image: x}]}}}}`).(*batchv1.Job)
	if j.Name != "j-xxxxx" || j.Spec.Selector.MatchLabels["batch.kubernetes.io/controller-uid"] != "u-1" || j.Spec.Template.Labels["controller-uid"] != "u-1" {
		t.Errorf("created %+v", j)
	}
}

// An invalid object is answered with every cause.
func TestInvalidObject(t *testing.T) {
	_, err := serve(t, "pods", "v1").create(`{apiVersion: v1, kind: Pod, metadata: {name: P}, spec: {containers: [{name: c}]}}`)
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Code != 422 || len(status.ErrStatus.Details.Causes) != 2 {
		t.Errorf("the answer is %v", err)
	}
}

// Services share neither addresses nor ports, and give them back.
func TestServiceAllocation(t *testing.T) {
	s := serve(t, "services", "v1")
	body := func(name, more string) string {
		return `{apiVersion: v1, kind: Service, metadata: {name: ` + name + `}, spec: {type: NodePort, ports: [{port: 80` + more + `}]}}`
	}
	a, b := s.mustCreate(body("a", "")).(*corev1.Service), s.mustCreate(body("b", "")).(*corev1.Service)
	if a.Spec.ClusterIP != "10.0.0.173" || b.Spec.ClusterIP != "10.0.0.174" || a.Spec.Ports[0].NodePort != 31270 || b.Spec.Ports[0].NodePort != 31271 {
		t.Errorf("%s:%d and %s:%d", a.Spec.ClusterIP, a.Spec.Ports[0].NodePort, b.Spec.ClusterIP, b.Spec.Ports[0].NodePort)
	}
	if _, err := s.create(body("c", ", nodePort: 31270")); err == nil || !strings.Contains(err.Error(), "spec.ports[0].nodePort: Invalid value: 31270: provided port is already allocated") {
		t.Errorf("a port that is taken: %v", err)
	}
	if _, err := s.create(body("c", ", nodePort: 80")); err == nil || !strings.Contains(err.Error(), "provided port is not in the valid range. The range of valid ports is 30000-32767") {
		t.Errorf("a port out of range: %v", err)
	}
	if _, err := s.create(strings.Replace(body("c", ""), "type: NodePort", "clusterIP: 10.0.0.173", 1)); err == nil || !strings.Contains(err.Error(), "failed to allocate IP 10.0.0.173: provided IP is already allocated") {
		t.Errorf("an address that is taken: %v", err)
	}
	if _, err := s.update("", "a", func(obj runtime.Object) { obj.(*corev1.Service).Spec.Type = corev1.ServiceTypeClusterIP }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.create(strings.Replace(body("c", ""), "type: NodePort", "clusterIP: 10.0.0.255", 1)); err == nil || !strings.Contains(err.Error(), "failed to allocate IP 10.0.0.255: the provided network does not match the current range") {
		t.Errorf("an address that is no host's: %v", err)
	}
	external := s.mustCreate(`{apiVersion: v1, kind: Service, metadata: {name: e}, spec: {type: ExternalName, externalName: a.b, internalTrafficPolicy: Cluster}}`).(*corev1.Service)
	if external.Spec.InternalTrafficPolicy != nil || external.Spec.ClusterIP != "" {
		t.Errorf("created %+v", external.Spec)
	}
	c := s.mustCreate(body("c", ", nodePort: 31270")).(*corev1.Service)
	if c.Spec.ClusterIP != "10.0.0.175" || c.Spec.Ports[0].NodePort != 31270 {
		t.Errorf("%s:%d", c.Spec.ClusterIP, c.Spec.Ports[0].NodePort)
	}
	// What the Service itself has is taken, too.
	out, err := s.update("", "c", func(obj runtime.Object) {
		spec := &obj.(*corev1.Service).Spec
		spec.Ports = append([]corev1.ServicePort{{Name: "y", Port: 81, Protocol: "TCP", TargetPort: intstr.FromInt32(81)}}, spec.Ports...)
		spec.Ports[1].Name = "x"
	})
	if err != nil {
		t.Fatal(err)
	}
	if ports := out.Stored.(*corev1.Service).Spec.Ports; ports[0].NodePort == 0 || ports[0].NodePort == 31270 || ports[1].NodePort != 31270 {
		t.Errorf("a second port: %+v", ports)
	}
}

// A Job gets its labels from the template when it is read, and those of the template come after the defaults: the first update writes them, whatever
// else it changes.
func TestDefaultsOnRead(t *testing.T) {
	s := serve(t, "jobs.batch", "v1")
	obj := s.decode("", `{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}`)
	out, err := s.storage().Create(s.write("", ""), obj)
	if err != nil {
		t.Fatal(err)
	}
	if j := out.Stored.(*batchv1.Job); len(j.Labels) == 0 || out.Persisted == nil || len(out.Persisted.(*batchv1.Job).Labels) != 0 {
		t.Fatalf("stored %+v, persisted %+v", j.ObjectMeta, out.Persisted)
	}
	s.keep("j", out)
	w := s.write("", "j")
	w.Persisted = out.Persisted
	same := func(current runtime.Object) (runtime.Object, error) { return current, nil }
	if out, err = s.storage().Update(w, same); err != nil || out.Stored == nil || out.Persisted != nil {
		t.Fatalf("the first update: %+v, %v", out, err)
	}
	s.keep("j", out)
	if out, err = s.storage().Update(s.write("", "j"), same); err != nil || out.Stored != nil {
		t.Errorf("the second update: %+v, %v", out, err)
	}
}

// A DELETE of Jobs says what becomes of their pods, once, whether there are any Jobs or not.
func TestDeleteCollection(t *testing.T) {
	s := serve(t, "jobs.batch", "v1")
	out, err := s.storage().DeleteCollection(s.write("", ""), &metav1.DeleteOptions{})
	if err != nil || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "child pods are preserved by default") {
		t.Errorf("%q, %v", out.Warnings, err)
	}
	background := metav1.DeletePropagationBackground
	if out, err = s.storage().DeleteCollection(s.write("", ""), &metav1.DeleteOptions{PropagationPolicy: &background}); err != nil || len(out.Warnings) != 0 {
		t.Errorf("with a policy: %q, %v", out.Warnings, err)
	}
}

// A bookmark of Deployments has 0 replicas, as conversion makes them.
func TestBookmark(t *testing.T) {
	s := serve(t, "deployments.apps", "v1")
	obj, err := s.storage().Bookmark(s.r.Strategy.New())
	if d, ok := obj.(*appsv1.Deployment); err != nil || !ok || d.Spec.Replicas == nil || *d.Spec.Replicas != 0 || d.Kind != "Deployment" {
		t.Errorf("%+v, %v", obj, err)
	}
}

// What deletes do and answer: most kinds a Status, some the object, a Pod on a node is marked first.
func TestDelete(t *testing.T) {
	s := serve(t, "configmaps", "v1")
	s.mustCreate(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}`)
	out, err := s.storage().Delete(s.write("", "c"), &metav1.DeleteOptions{})
	if st, ok := out.Answer.(*metav1.Status); err != nil || !ok || !out.Deleted || st.Details.Kind != "configmaps" || st.Details.UID != "u-1" {
		t.Errorf("a ConfigMap: %+v, %v", out, err)
	}
	s = serve(t, "jobs.batch", "v1")
	s.mustCreate(`{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}`)
	out, err = s.storage().Delete(s.write("", "j"), &metav1.DeleteOptions{})
	if j, ok := out.Stored.(*batchv1.Job); err != nil || !ok || out.Deleted || len(j.Finalizers) != 1 || j.Finalizers[0] != "orphan" || !j.DeletionTimestamp.Time.Equal(noon) {
		t.Errorf("a Job: %+v, %v", out, err)
	}
	s = serve(t, "pods", "v1")
	s.mustCreate(`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: node, containers: [{name: c, image: x}]}}`)
	out, err = s.storage().Delete(s.write("", "p"), &metav1.DeleteOptions{})
	p, ok := out.Stored.(*corev1.Pod)
	if err != nil || !ok || out.Deleted || !p.DeletionTimestamp.Time.Equal(noon.Add(30*time.Second)) || *p.DeletionGracePeriodSeconds != 30 || p.Generation != 2 {
		t.Errorf("a Pod: %+v, %v", out, err)
	}
	s.keep("p", out)
	s.now = noon.Add(10 * time.Second)
	five := int64(5)
	out, err = s.storage().Delete(s.write("", "p"), &metav1.DeleteOptions{GracePeriodSeconds: &five})
	if p, ok := out.Stored.(*corev1.Pod); err != nil || !ok || !p.DeletionTimestamp.Time.Equal(noon.Add(10*time.Second)) || *p.DeletionGracePeriodSeconds != 1 {
		t.Errorf("a period that has passed: %+v, %v", out, err)
	}
	zero := int64(0)
	out, err = s.storage().Delete(s.write("", "p"), &metav1.DeleteOptions{GracePeriodSeconds: &zero})
	if err != nil || !out.Deleted || out.Answer != nil || out.Stored == nil {
		t.Errorf("at once: %+v, %v", out, err)
	}
}

// The default admission plugins change what is created: a Pod's priority and tolerations, limits, finalizers, taints.
func TestAdmission(t *testing.T) {
	s := serve(t, "pods", "v1")
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: high, containers: [{name: c, image: x}]}}`
	_, err := s.create(pod)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "no PriorityClass with name high was found") {
		t.Errorf("a class that does not exist: %v", err)
	}
	s.more = map[string][]runtime.Object{
		"priorityclasses": {&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 77}},
		"limitranges": {
			&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l", Namespace: "ns"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
				{Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}},
			}}},
			&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l", Namespace: "other"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
				{Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2")}},
			}}},
		},
	}
	p := s.mustCreate(pod).(*corev1.Pod)
	if *p.Spec.Priority != 77 || len(p.Spec.Tolerations) != 2 || p.Spec.Containers[0].Resources.Limits.Cpu().String() != "2" || len(p.Spec.Containers[0].Resources.Limits) != 1 {
		t.Errorf("created %+v", p.Spec)
	}
	n := serve(t, "nodes", "v1").mustCreate(`{apiVersion: v1, kind: Node, metadata: {name: node}}`).(*corev1.Node)
	if len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != "node.kubernetes.io/not-ready" {
		t.Errorf("created %+v", n.Spec)
	}
}

// Both kinds of events are one: what is written as one is read as the other.
func TestEventsAreOne(t *testing.T) {
	core, events := lookup(t, "events", "v1"), lookup(t, "events.events.k8s.io", "v1")
	if events.StoreResource() != core.GroupResource() || core.StoreResource() != core.GroupResource() {
		t.Errorf("events are stored as %s and %s", events.StoreResource(), core.StoreResource())
	}
	s := serve(t, "events.events.k8s.io", "v1")
	s.objs = []runtime.Object{s.mustCreate(`{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: e, namespace: ns}, regarding: {kind: Pod, name: p, namespace: ns},
 reason: R, action: A, type: Normal, eventTime: "2030-05-05T12:00:00.000000Z", reportingController: a/b, reportingInstance: x}`)}
	if e, ok := s.objs[0].(*corev1.Event); !ok || e.InvolvedObject.Name != "p" || e.APIVersion != "v1" {
		t.Fatalf("stored %+v", s.objs[0])
	}
	shown, err := events.Strategy.Convert(s.objs[0])
	if e, ok := shown.(*eventsv1.Event); err != nil || !ok || e.Regarding.Name != "p" || events.Strategy.Field(s.objs[0], "regarding.name") != "p" {
		t.Errorf("shown %+v, %v", shown, err)
	}
	out, err := s.update("", "e", func(obj runtime.Object) { obj.(*eventsv1.Event).Labels = map[string]string{"a": "b"} })
	if err != nil || out.Stored.(*corev1.Event).Labels["a"] != "b" {
		t.Errorf("updated %+v, %v", out, err)
	}
}

// What an applier owns of an Event in one group has no type in the other, where a kube-apiserver leaves it alone.
func TestEventsHaveTypesInTheirGroupOnly(t *testing.T) {
	inCore, inEvents := &corev1.Event{}, &eventsv1.Event{}
	inCore.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Event"))
	inEvents.SetGroupVersionKind(eventsv1.SchemeGroupVersion.WithKind("Event"))
	for _, tt := range []struct {
		resource   string
		own, other runtime.Object
	}{{"events", inCore, inEvents}, {"events.events.k8s.io", inEvents, inCore}} {
		converter := lookup(t, tt.resource, "v1").Strategy.TypeConverter()
		if _, err := converter.ObjectToTyped(tt.own); err != nil {
			t.Errorf("%s: its own kind: %v", tt.resource, err)
		}
		if _, err := converter.ObjectToTyped(tt.other); err == nil || !strings.Contains(err.Error(), "no corresponding type") {
			t.Errorf("%s: that of the other group: %v", tt.resource, err)
		}
	}
}

// Bytes of no length are not the same as none: protobuf has them.
func TestEmptyBytesAreAWrite(t *testing.T) {
	s := serve(t, "validatingwebhookconfigurations.admissionregistration.k8s.io", "v1")
	s.mustCreate(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: c}, webhooks: [{name: a.example.com,
 clientConfig: {url: "https://127.0.0.1:1"}, admissionReviewVersions: [v1], sideEffects: None}]}`)
	empty := func(obj runtime.Object) {
		obj.(*admissionregistrationv1.ValidatingWebhookConfiguration).Webhooks[0].ClientConfig.CABundle = []byte{}
	}
	for i, writes := range []bool{true, false} {
		out, err := s.update("", "c", empty)
		if err != nil || (out.Stored != nil) != writes {
			t.Errorf("update %d: %+v, %v; want a write: %t", i, out, err, writes)
		}
	}
}

// An apply's result is defaulted before it is validated, and quantities that are none are the configuration's fault.
func TestTypedDefaults(t *testing.T) {
	c := lookup(t, "services", "v1").Strategy.Convertor()
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service", "spec": map[string]any{"type": "ClusterIP"}}}
	obj, err := c.ConvertToVersion(u, corev1.SchemeGroupVersion)
	if s, ok := obj.(*corev1.Service); err != nil || !ok || s.Spec.Type != corev1.ServiceTypeClusterIP {
		t.Fatalf("converted to %T, %v", obj, err)
	}
	u = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "spec": map[string]any{"maxReplicas": int64(3)}}}
	other, err := c.ConvertToVersion(u, autoscalingv2.SchemeGroupVersion)
	if h, ok := other.(*autoscalingv2.HorizontalPodAutoscaler); err != nil || !ok || h.Spec.MaxReplicas != 3 {
		t.Errorf("converted to %T, %v", other, err)
	}
	if same, err := c.ConvertToVersion(obj, corev1.SchemeGroupVersion); err != nil || same != obj {
		t.Errorf("an object of the version became another: %v", err)
	}
}
