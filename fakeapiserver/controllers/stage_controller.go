package controllers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/controllers/stages"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// KindStage is the choice in which an object reaches its next stage.
var KindStage = sim.RegisterKind("stage", sim.ClassAction)

// StageController takes objects from stage to stage. What it does with the Pods of a node is a choice of the actor "kubelet/NODE", what it
// does with other objects one of the actor "stages". The Pods of a node that is not Ready stay as they are.
type StageController struct {
	writer
	k       *sim.Kernel
	options Options
	started time.Time
	all     map[store.ResourceID][]*stages.Stage
	unknown []*stages.Stage // of kinds that are not served, or not yet
	looked  store.ResourceID
	waiting map[object]*staged
	unseen  map[object]bool // those that have changed since they were looked at
	lanes   map[string]*worker[*staged]
	nodes   store.ResourceID
	pods    store.ResourceID
	events  store.ResourceID
	failed  func(error)
	hasNode bool // nodes are served; and so on
	hasPod  bool
	recent  bool // events are
}

// staged is an object on its way to a stage.
type staged struct {
	object object
	stage  *stages.Stage
	lane   string
	dead   bool // something else has happened
}

// NewStageController starts a controller of such stages. failed is told of a stage that does not fit its object, which stays as it is then;
// without it, the run fails.
func NewStageController(c *fakeapiserver.Cluster, o Options, all []*stages.Stage, failed func(error)) *StageController {
	s := &StageController{
		writer: writer{cluster: c}, k: c.Kernel(), options: o, started: c.Now(), unknown: all,
		all: map[store.ResourceID][]*stages.Stage{}, unseen: map[object]bool{}, lanes: map[string]*worker[*staged]{},
	}
	if s.failed = failed; failed == nil {
		s.failed = s.k.Fail
	}
	s.rebuild()
	c.OnCommit(func(id store.ResourceID, done store.Committed) {
		if s.find(); s.all[id] == nil && (!s.hasNode || id != s.nodes) {
			return
		}
		s.committed(id, done.Object, done.Deleted)
	})
	c.OnRestore(s.rebuild)
	return s
}

// find looks up the resources of the stages, which may be added late.
func (s *StageController) find() {
	st := s.cluster.Store()
	for r := st.Resource(s.looked); r != nil; r = st.Resource(s.looked) {
		kind := r.GroupVersionKind().GroupKind()
		left := s.unknown[:0:0]
		for _, stage := range s.unknown {
			if stage.Of == kind {
				s.all[s.looked] = append(s.all[s.looked], stage)
			} else {
				left = append(left, stage)
			}
		}
		s.unknown = left
		switch r.GroupResource() {
		case schema.GroupResource{Resource: "nodes"}:
			s.nodes, s.hasNode = s.looked, true
		case schema.GroupResource{Resource: "pods"}:
			s.pods, s.hasPod = s.looked, true
		case schema.GroupResource{Resource: "events"}:
			s.events, s.recent = s.looked, true
		}
		s.looked++
	}
}

// rebuild reads the whole Store, at the start and after a restore.
func (s *StageController) rebuild() {
	for _, w := range s.waiting { // order: all of them end
		w.dead = true
	}
	s.waiting = map[object]*staged{}
	s.find()
	st := s.cluster.Store()
	for id := store.ResourceID(0); st.Resource(id) != nil; id++ {
		if s.all[id] != nil {
			st.Newest(id, "", func(_ string, obj runtime.Object) bool { s.learn(id, obj); return true })
		}
	}
}

func (s *StageController) committed(id store.ResourceID, obj runtime.Object, deleted bool) {
	m, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	if s.all[id] != nil {
		if deleted {
			s.forget(object{res: id, namespace: m.GetNamespace(), name: m.GetName()})
		} else {
			s.learn(id, obj)
		}
	}
	if lane := s.lanes[laneOf(m.GetName())]; s.hasNode && id == s.nodes && lane != nil {
		s.hold(lane, deleted || !nodeReady(obj))
	}
}

// laneOf names the kubelet of a node.
func laneOf(node string) string { return "kubelet/" + node }

// hold keeps a node's Pods as they are, or lets them move again.
func (s *StageController) hold(lane *worker[*staged], hold bool) {
	switch {
	case hold && lane.held == 0:
		lane.Hold()
	case !hold && lane.held > 0:
		lane.Release()
	}
}

func (s *StageController) forget(o object) {
	if w := s.waiting[o]; w != nil {
		w.dead = true
		delete(s.waiting, o)
	}
}

// learn looks at an object, after the lag. It is always a step of its own, since what is next is drawn.
func (s *StageController) learn(id store.ResourceID, obj runtime.Object) {
	m, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	o := object{res: id, namespace: m.GetNamespace(), name: m.GetName()}
	if s.unseen[o] {
		return
	}
	s.unseen[o] = true
	s.k.Clock().AfterFunc(max(s.options.Lag, 0), func() {
		delete(s.unseen, o)
		if now, _ := s.get(o); now != nil {
			s.look(id, now)
		}
	})
}

// StopFaults keeps stages that are faults from being entered from now on.
func (s *StageController) StopFaults() {
	for id, all := range s.all { // order: each is changed by itself
		s.all[id] = slices.DeleteFunc(slices.Clone(all), func(stage *stages.Stage) bool { return stage.Fault })
	}
	s.unknown = slices.DeleteFunc(slices.Clone(s.unknown), func(stage *stages.Stage) bool { return stage.Fault })
	s.rebuild()
}

// look sees what is next for an object. What it is waiting for stays, as long as that is still right.
func (s *StageController) look(id store.ResourceID, obj runtime.Object) {
	m, err := decoded(s.cluster.Store().Resource(id), obj)
	if err != nil {
		s.k.Fail(err)
		return
	}
	meta := obj.(metav1.Object)
	key := object{res: id, namespace: meta.GetNamespace(), name: meta.GetName()}
	uid := meta.GetUID()
	if w := s.waiting[key]; w != nil && w.object.uid == uid && w.stage.Matches(m) {
		return
	}
	s.forget(key)
	draw := s.k.Stream("stages").IntN
	stage := stages.Choose(s.all[id], m, draw)
	if stage == nil {
		return
	}
	w := &staged{object: object{id, key.namespace, key.name, uid}, stage: stage, lane: "stages"}
	if node := nodeOf(m); s.hasPod && id == s.pods && node != "" {
		w.lane = laneOf(node)
	}
	s.waiting[key] = w
	s.k.Clock().AfterFunc(max(stage.Delay(m, s.cluster.Now(), draw), 0), func() {
		if !w.dead {
			s.lane(w.lane).add(w)
		}
	})
}

func nodeOf(m map[string]any) string {
	spec, _ := m["spec"].(map[string]any)
	node, _ := spec["nodeName"].(string)
	return node
}

// lane returns the actor of that name.
func (s *StageController) lane(name string) *worker[*staged] {
	lane := s.lanes[name]
	if lane == nil {
		lane = newWorker(s.k, name, KindStage, Options{Delay: s.options.Delay}, s.enter)
		s.lanes[name] = lane
		if name != "stages" && s.hasNode {
			node, _ := s.cluster.Store().Get(s.nodes, "", name[len(laneOf("")):])
			s.hold(lane, node != nil && !nodeReady(node))
		}
	}
	return lane
}

// enter makes an object what it is after its stage.
func (s *StageController) enter(w *staged) {
	if w.dead {
		return
	}
	key := w.object
	key.uid = ""
	delete(s.waiting, key)
	obj, _ := s.get(w.object)
	if obj == nil {
		return
	}
	res := s.cluster.Store().Resource(w.object.res)
	m, err := decoded(res, obj)
	if err == nil && !w.stage.Matches(m) {
		s.look(w.object.res, obj)
		return
	}
	var next []byte
	var done []stages.Outcome
	for stage := w.stage; err == nil && stage != nil; {
		var out stages.Outcome
		if out, err = stage.Apply(m, typedOf(res), s.cluster.Now(), s.started); err != nil {
			break
		}
		done = append(done, out)
		if out.JSON != nil {
			next, m = out.JSON, nil
			err = json.Unmarshal(out.JSON, &m)
		}
		stage = s.immediately(stage, w.object.res, m, out)
	}
	if err == nil {
		err = s.commit(w.object, obj, res, next, done)
	}
	switch {
	case fakeapiserver.Refused(err):
		s.k.Clock().AfterFunc(retryRefused, func() { s.lane(w.lane).add(w) })
	case err != nil:
		s.failed(fmt.Errorf("%s %s: %w", res.Kind, strings.TrimPrefix(w.object.namespace+"/"+w.object.name, "/"), err))
	}
}

// immediately returns the stage that is part of the same change as the one before it; nil if there is none.
func (s *StageController) immediately(stage *stages.Stage, id store.ResourceID, m map[string]any, out stages.Outcome) *stages.Stage {
	if !stage.Immediate() || out.JSON == nil || out.Delete {
		return nil
	}
	draw := s.k.Stream("stages").IntN
	then := stages.Choose(s.all[id], m, draw)
	if then == nil || then == stage || then.Delay(m, s.cluster.Now(), draw) > 0 {
		return nil
	}
	return then
}

// commit writes what an object has become.
func (s *StageController) commit(o object, obj runtime.Object, res *store.Resource, data []byte, done []stages.Outcome) error {
	if data != nil {
		next, err := encoded(res, data)
		if err != nil {
			return fmt.Errorf("a stage makes it no %s: %w", res.Kind, err)
		}
		next.GetObjectKind().SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
		if err := s.put(o, obj.(metav1.Object), next); err != nil {
			return err
		}
	}
	for _, out := range done {
		if out.Reason != "" {
			if err := s.record(o, res, &out); err != nil {
				return err
			}
		}
		if out.Delete {
			return s.delete(o, "")
		}
	}
	return nil
}

// record writes an event.
func (s *StageController) record(o object, res *store.Resource, out *stages.Outcome) error {
	if !s.recent {
		return nil
	}
	events := s.cluster.Store().Resource(s.events)
	if _, ok := events.Empty().(*corev1.Event); !ok {
		return nil
	}
	namespace := o.namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	now := metav1.NewTime(s.cluster.Now().Truncate(time.Second))
	component := "kubelet"
	if o.res == s.nodes && s.hasNode {
		component = "node-controller"
	}
	e := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s.%x", o.name, s.cluster.Store().Revision())},
		InvolvedObject: corev1.ObjectReference{APIVersion: res.GroupVersionKind().GroupVersion().String(), Kind: res.Kind, Namespace: o.namespace, Name: o.name, UID: o.uid},
		Type:           out.EventType, Reason: out.Reason, Message: out.Message, FirstTimestamp: now, LastTimestamp: now, Count: 1,
		Source: corev1.EventSource{Component: component}, ReportingController: component,
	}
	if gvk := (schema.GroupVersionKind{Version: "v1", Kind: "Event"}); events.GroupVersionKind() == gvk {
		e.SetGroupVersionKind(gvk)
	}
	_, err := s.cluster.Create(s.events, e)
	return err
}

// encoded returns an object as it comes from JSON of its Go type. A template's times have fractions of a second, which that leaves out: with them, an update that changes nothing of the object would be a write.
func encoded(res *store.Resource, data []byte) (runtime.Object, error) {
	obj := res.Empty()
	if err := json.Unmarshal(data, obj); err != nil {
		return nil, err
	}
	if typedOf(res) == nil {
		return obj, nil
	}
	again, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	obj = res.Empty()
	return obj, json.Unmarshal(again, obj)
}

// decoded returns an object as JSON decodes it, with its kind.
func decoded(res *store.Resource, obj runtime.Object) (map[string]any, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	m := map[string]any{}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	m["apiVersion"], m["kind"] = res.GroupVersionKind().GroupVersion().String(), res.Kind
	return m, nil
}

// typedOf returns an empty object of a resource's Go type; nil for a custom resource.
func typedOf(res *store.Resource) any {
	obj := res.Empty()
	if _, custom := obj.(*unstructured.Unstructured); custom {
		return nil
	}
	return obj
}
