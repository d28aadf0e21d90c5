package pipe

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/world/wire"
)

// Object stands in the guest for an object of the kernel's: an informer looks at nothing but metadata.
type Object struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	// number is the object's: positive for the kernel's, negative for a copy that the guest has made, 0 if such a copy has not crossed yet.
	number int64
	origin int64  // that of the kernel's object of which this is a copy
	sent   string // its resourceVersion when it crossed
}

// DeepCopyObject implements runtime.Object. A copy is another object.
func (o *Object) DeepCopyObject() runtime.Object {
	c := &Object{TypeMeta: o.TypeMeta, origin: o.origin}
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return c
}

// The forms of an object.
const (
	objectNil    = 0
	objectKnown  = 1 // number
	objectNew    = 2 // number, metadata
	objectStatus = 3 // JSON
	objectCopy   = 4 // number, that of the original, metadata: made in the guest
)

func addMeta(p *wire.Packet, m metav1.Object) {
	p.Text(m.GetNamespace()).Text(m.GetName()).Text(m.GetResourceVersion())
	addMap(p, m.GetLabels())
	addMap(p, m.GetAnnotations())
}

func addMap(p *wire.Packet, m map[string]string) {
	p.Num(int64(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		p.Text(k).Text(m[k])
	}
}

func readMeta(m *wire.Message, into metav1.Object) {
	into.SetNamespace(m.Text())
	into.SetName(m.Text())
	into.SetResourceVersion(m.Text())
	into.SetLabels(readMap(m))
	into.SetAnnotations(readMap(m))
}

func readMap(m *wire.Message) map[string]string {
	n := m.Num()
	if n == 0 {
		return nil
	}
	all := map[string]string{}
	for ; n > 0 && m.Err() == nil; n-- {
		k := m.Text()
		all[k] = m.Text()
	}
	return all
}

// Objects are those that have crossed the pipe, as the kernel's side knows them.
type Objects struct {
	numbers map[runtime.Object]int64
	objects map[int64]runtime.Object
}

// NewObjects returns an empty table, for one run.
func NewObjects() *Objects {
	return &Objects{numbers: map[runtime.Object]int64{}, objects: map[int64]runtime.Object{}}
}

// Add adds an object to a packet for the guest.
func (t *Objects) Add(p *wire.Packet, obj runtime.Object) {
	if obj == nil {
		p.Byte(objectNil)
		return
	}
	if s, ok := obj.(*metav1.Status); ok {
		addStatus(p, s)
		return
	}
	if n, ok := t.numbers[obj]; ok {
		p.Byte(objectKnown).Num(n)
		return
	}
	n := int64(len(t.numbers) + 1)
	t.numbers[obj], t.objects[n] = n, obj
	m, err := meta.Accessor(obj)
	if err != nil {
		m = &metav1.ObjectMeta{} // it has no metadata, and client-go will say so
	}
	p.Byte(objectNew).Num(n)
	addMeta(p, m)
}

// Read reads an object from the guest, nil for none.
func (t *Objects) Read(m *wire.Message) any {
	switch form := m.Byte(); form {
	case objectNil:
		return nil
	case objectKnown:
		n := m.Num()
		obj, ok := t.objects[n]
		if !ok {
			m.Broken(fmt.Errorf("object %d is unknown: %w", n, wire.ErrProtocol))
			return nil
		}
		return obj
	case objectCopy:
		n, origin := m.Num(), m.Num()
		of, ok := t.objects[origin]
		if !ok {
			m.Broken(fmt.Errorf("object %d is a copy of an unknown one: %w", n, wire.ErrProtocol))
			return nil
		}
		obj := of.DeepCopyObject()
		into, err := meta.Accessor(obj)
		if err != nil {
			into = &metav1.ObjectMeta{}
		}
		readMeta(m, into)
		t.objects[n] = obj
		return obj
	default:
		m.Broken(fmt.Errorf("an object of form %d: %w", form, wire.ErrProtocol))
		return nil
	}
}

// guestObjects are the same in the guest.
type guestObjects struct {
	objects map[int64]*Object
	copies  int64
}

// read reads an object from the kernel.
func (t *guestObjects) read(m *wire.Message) runtime.Object {
	switch form := m.Byte(); form {
	case objectNil:
		return nil
	case objectKnown:
		return t.objects[m.Num()]
	case objectNew:
		o := &Object{number: m.Num()}
		o.origin = o.number
		readMeta(m, &o.ObjectMeta)
		o.sent = o.ResourceVersion
		t.objects[o.number] = o
		return o
	case objectStatus:
		s := &metav1.Status{}
		m.JSON(s)
		return s
	default:
		m.Broken(fmt.Errorf("an object of form %d: %w", form, wire.ErrProtocol))
		return nil
	}
}

// add adds an object to a packet for the kernel.
func (t *guestObjects) add(p *wire.Packet, obj any) {
	o, ok := obj.(*Object)
	switch {
	case !ok || o == nil:
		p.Byte(objectNil)
	case o.number != 0 && o.sent == o.ResourceVersion:
		p.Byte(objectKnown).Num(o.number)
	default: // a copy, or an object that was changed in place
		t.copies--
		o.number, o.sent = t.copies, o.ResourceVersion
		p.Byte(objectCopy).Num(o.number).Num(o.origin)
		addMeta(p, o)
	}
}
