package world

import (
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/world/wire"
)

// subscription is a resource that the test has read: from then on it has a copy of its objects, and is told of every change together with the
// step that makes it, so that reading again makes no trip.
type subscription struct {
	resource *types.Resource
	id       store.ResourceID
}

// answer answers a query.
func (r *remote) answer(m *wire.Message) *wire.Packet {
	p := wire.New(wire.Answer)
	switch kind := m.Byte(); kind {
	case wire.QueryDocument:
		r.document(m, p)
	case wire.QueryObjects:
		r.subscribe(schema.FromAPIVersionAndKind(m.Text(), m.Text()), p)
	case wire.QueryObject:
		r.objectAgain(int(m.Num()), m.Text(), p)
	case wire.QueryKeys:
		r.keys(m.Text(), p)
	case wire.QueryLease:
		r.w.leases.answer(m.Text(), p)
	case wire.QueryState:
		r.state(p)
	default:
		p.Error(fmt.Errorf("query %q is not known", kind))
	}
	return p
}

// subscribe answers with all objects of a kind.
func (r *remote) subscribe(kind schema.GroupVersionKind, p *wire.Packet) {
	res, err := r.w.mapper.byKind(kind)
	if err != nil {
		p.Error(err)
		return
	}
	id, ok := r.w.cluster.FindResource(res.GroupResource())
	if !ok {
		p.Error(fmt.Errorf("%s is not served", res))
		return
	}
	var objects wire.Packet
	s := r.w.cluster.Store()
	err = s.Walk(id, s.Revision(), "", func(key string, obj runtime.Object) bool {
		r.object(objects.Text(key), res, obj)
		return true
	})
	if p.Error(err); err != nil {
		return
	}
	r.subs = append(r.subs, &subscription{resource: res, id: id})
	p.Num(int64(len(r.subs) - 1)).Text(res.Group).Text(res.Plural).Flag(res.Namespaced).Text(res.ListKind)
	p.Num(int64(len(res.SelectableFields)))
	for _, name := range res.SelectableFields {
		p.Text(name)
	}
	p.Field(&objects)
}

// selectable adds the values of an object's fields that select.
func selectable(p *wire.Packet, res *types.Resource, obj runtime.Object) {
	p.Num(int64(len(res.SelectableFields)))
	for _, name := range res.SelectableFields {
		p.Text(res.Strategy.Field(obj, name))
	}
}

// keys answers with the keys of all objects of a resource.
func (r *remote) keys(resource string, p *wire.Packet) {
	id, ok := r.w.cluster.FindResource(schema.ParseGroupResource(resource))
	if !ok {
		p.Error(fmt.Errorf("there is no resource %q: name one by its plural, with its group if that is not the core group, as in \"deployments.apps\"", resource))
		return
	}
	var keys []string
	s := r.w.cluster.Store()
	err := s.Walk(id, s.Revision(), "", func(key string, _ runtime.Object) bool {
		keys = append(keys, key)
		return true
	})
	if p.Error(err); err != nil {
		return
	}
	p.Num(int64(len(keys)))
	for _, key := range keys {
		p.Text(key)
	}
}

// state answers with what the fake apiserver is at.
func (r *remote) state(p *wire.Packet) {
	st := wire.State{Revision: r.w.cluster.Store().Revision(), Steps: r.w.kernel.Steps(), Faults: r.w.run.FaultTotal(), Draws: r.w.draws()}
	for _, f := range r.w.pendingFaults() {
		data, err := json.Marshal(f.Fault)
		if err != nil {
			p.Error(err)
			return
		}
		st.Pending = append(st.Pending, wire.PendingFault{State: f.State, Left: f.Left, Fault: data})
	}
	p.Error(nil).JSON(st)
}

// object adds an object of the Store, or why the test cannot read it.
func (r *remote) object(p *wire.Packet, res *types.Resource, obj runtime.Object) {
	data, err := r.w.encoded(res, obj)
	selectable(p.Error(err).Bytes(data), res, obj)
}

// objectAgain answers with an object that could not be converted when it was written. Perhaps nobody served the webhook then.
func (r *remote) objectAgain(sub int, key string, p *wire.Packet) {
	if sub < 0 || sub >= len(r.subs) {
		p.Error(fmt.Errorf("there is no subscription %d; this is a bug in informersim", sub))
		return
	}
	s := r.subs[sub]
	namespace, name, namespaced := strings.Cut(key, "/")
	if !namespaced {
		namespace, name = "", key
	}
	obj, rev := r.w.cluster.Store().Get(s.id, namespace, name)
	if rev == 0 || obj == nil {
		p.Error(apierrors.NewNotFound(s.resource.GroupResource(), name))
		return
	}
	r.object(p.Error(nil), s.resource, obj)
}

// encoded returns an object of the Store as JSON, in the version that was asked for.
func (w *world) encoded(res *types.Resource, obj runtime.Object) (data []byte, err error) {
	err = w.conversions.read(func() error {
		shown, err := res.Strategy.Convert(obj)
		if err == nil {
			data, err = json.Marshal(shown)
		}
		return err
	})
	return data, err
}

// committed tells of a change.
func (r *remote) committed(id store.ResourceID, v store.Committed) {
	for n, sub := range r.subs {
		if sub.id != id {
			continue
		}
		if now := r.w.mapper.registry.ByKind(sub.resource.GroupVersionKind()); now != nil {
			sub.resource = now // its definition has changed
		}
		if v.Deleted {
			r.objects.Byte(wire.DoDelete).Num(int64(n)).Text(v.Key)
			continue
		}
		r.object(r.objects.Byte(wire.DoObject).Num(int64(n)).Text(v.Key), sub.resource, v.Object)
	}
}

// restored tells that the Store has another history: the test reads again what it needs.
func (r *remote) restored() {
	if len(r.subs) > 0 {
		r.objects.Reset()
		r.objects.Byte(wire.DoForget)
		r.subs = nil
	}
}
