package simtest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// objects is a copy of what the Store holds of the kinds that the test has read. The engine sends every change of them with the step that
// makes it, so that reading makes no trip.
type objects struct {
	w *world

	mu     sync.Mutex
	byKind map[schema.GroupVersionKind]*mirror
	subs   []*mirror // by the engine's number
}

// mirror is the copy of one kind's objects.
type mirror struct {
	number     int // the engine's
	resource   schema.GroupResource
	namespaced bool
	listKind   string
	fields     []string // that select, besides metadata.name and metadata.namespace
	entries    map[string]*entry
	keys       []string // sorted; nil if they have to be sorted again
}

// entry is one object. It is decoded when it is read, once for each Go type.
type entry struct {
	err     error // why it cannot be read in the kind's version
	json    []byte
	values  []string // of the mirror's fields
	labels  labels.Set
	decoded map[reflect.Type]runtime.Object
}

// readEntry reads an object's JSON and the values of its fields.
func readEntry(m *wire.Message) *entry {
	n := &entry{err: m.Error(), json: m.Bytes()}
	for count := m.Num(); count > 0 && m.Err() == nil; count-- {
		n.values = append(n.values, m.Text())
	}
	return n
}

func (o *objects) set(sub int, key string, n *entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if sub < len(o.subs) {
		m := o.subs[sub]
		if m.entries[key] == nil {
			m.keys = nil
		}
		m.entries[key] = n
	}
}

func (o *objects) remove(sub int, key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if sub < len(o.subs) {
		delete(o.subs[sub].entries, key)
		o.subs[sub].keys = nil
	}
}

func (o *objects) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byKind, o.subs = nil, nil
}

// of returns the copy of a kind's objects; the caller holds the lock.
func (o *objects) of(kind schema.GroupVersionKind) (*mirror, error) {
	if m := o.byKind[kind]; m != nil {
		return m, nil
	}
	apiVersion, name := kind.ToAPIVersionAndKind()
	a, err := o.w.query(wire.New(wire.Query).Byte(wire.QueryObjects).Text(apiVersion).Text(name))
	if err != nil {
		return nil, err
	}
	if n := int(a.Num()); n != len(o.subs) {
		return nil, fmt.Errorf("the engine's subscription is %d instead of %d; this is a bug in informersim", n, len(o.subs))
	}
	m := &mirror{number: len(o.subs), entries: map[string]*entry{}}
	m.resource = schema.GroupResource{Group: a.Text(), Resource: a.Text()}
	m.namespaced, m.listKind = a.Flag(), a.Text()
	for count := a.Num(); count > 0 && a.Err() == nil; count-- {
		m.fields = append(m.fields, a.Text())
	}
	f := a.Field()
	for f.More() {
		key := f.Text()
		m.entries[key] = readEntry(f)
	}
	if f.Err() != nil {
		return nil, f.Err()
	}
	if o.byKind == nil {
		o.byKind = map[schema.GroupVersionKind]*mirror{}
	}
	o.byKind[kind] = m
	o.subs = append(o.subs, m)
	return m, nil
}

// sorted returns the keys in the Store's order.
func (m *mirror) sorted() []string {
	if m.keys == nil {
		m.keys = slices.AppendSeq(make([]string, 0, len(m.entries)), maps.Keys(m.entries))
		slices.Sort(m.keys)
	}
	return m.keys
}

// entry returns the object of a key, nil if there is none. One that could not be converted is asked for again; the caller holds the lock.
func (o *objects) entry(m *mirror, key string) (*entry, error) {
	n := m.entries[key]
	if n == nil || n.err == nil {
		return n, nil
	}
	a, err := o.w.query(wire.New(wire.Query).Byte(wire.QueryObject).Num(int64(m.number)).Text(key))
	if err != nil {
		return nil, err
	}
	n = readEntry(a)
	m.entries[key] = n
	if err := a.Err(); err != nil {
		return nil, err
	}
	return n, n.err
}

// fill makes obj, a pointer to an object, a copy of the entry, and leaves nothing of obj's former content.
func (n *entry) fill(obj runtime.Object) error {
	to := reflect.ValueOf(obj)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return fmt.Errorf("%T is not a pointer to an object", obj)
	}
	decoded := n.decoded[to.Type()]
	if decoded == nil {
		var ok bool
		if decoded, ok = reflect.New(to.Type().Elem()).Interface().(runtime.Object); !ok {
			return fmt.Errorf("%T is not an object", obj)
		}
		if err := replace(decoded, n.json); err != nil {
			return err
		}
		if n.decoded == nil {
			n.decoded = map[reflect.Type]runtime.Object{}
		}
		n.decoded[to.Type()] = decoded
	}
	to.Elem().Set(reflect.ValueOf(decoded.DeepCopyObject()).Elem())
	return nil
}

// Get fills in the newest state of an object whose kind, namespace and name are set. It reads the Store directly, without a
// request, so it works anywhere, is never stale, and no fault affects it. If there is no such object, it returns a NotFound
// error; other errors say that the kind is not known or not served, or that the object cannot be converted to the version (Webhooks.Handler).
//
// The first Get or List of a kind asks the engine for all objects of that kind. From then on each change comes with the step that makes it, so
// that the functions of Always and Eventually cost no exchange with the engine.
func (e *Env) Get(obj Object) error {
	kind, err := e.w.r.kindOf(obj)
	if err != nil {
		return err
	}
	if err := e.w.hooks.mayRead(); err != nil {
		return err
	}
	o := e.w.objects
	o.mu.Lock()
	defer o.mu.Unlock()
	m, err := o.of(kind)
	if err != nil {
		return err
	}
	key := obj.GetName()
	if m.namespaced {
		namespace := obj.GetNamespace()
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		key = namespace + "/" + key
	}
	n, err := o.entry(m, key)
	if err != nil {
		return err
	}
	if n == nil {
		return apierrors.NewNotFound(m.resource, obj.GetName())
	}
	return n.fill(obj)
}

// List fills a list with the objects of its kind, in one namespace unless namespace is empty, in the order of a real server's lists. A
// LabelSelector and a FieldSelector in the options restrict them as on a real server; other options, which mean something only to requests, are an
// error, as are a selector that does not parse and a field by which the kind cannot be selected. Like Get, it reads the Store.
func (e *Env) List(list runtime.Object, namespace string, options ...metav1.ListOptions) error {
	kind, err := e.w.r.kindOf(list)
	if err != nil {
		return err
	}
	item, isList := strings.CutSuffix(kind.Kind, "List")
	if !isList {
		return fmt.Errorf("%s is not a list kind", kind.Kind)
	}
	if err := e.w.hooks.mayRead(); err != nil {
		return err
	}
	o := e.w.objects
	o.mu.Lock()
	defer o.mu.Unlock()
	m, err := o.of(kind.GroupVersion().WithKind(item))
	if err != nil {
		return err
	}
	selects, err := newSelection(m, options)
	if err != nil {
		return fmt.Errorf("env.List: %w", err)
	}
	into, err := newListFiller(list)
	if err != nil {
		return err
	}
	for _, key := range m.sorted() {
		if namespace != "" && m.namespaced && !strings.HasPrefix(key, namespace+"/") {
			continue
		}
		n, err := o.entry(m, key)
		if err != nil {
			return err
		}
		selected, err := selects.matches(key, n)
		if err == nil && selected {
			err = into.add(n)
		}
		if err != nil {
			return err
		}
	}
	into.finish(kind.GroupVersion().WithKind(m.listKind))
	return nil
}
