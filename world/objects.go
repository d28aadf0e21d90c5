package world

import (
	"encoding/json"
	"fmt"
	"net/url"

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
	case wire.QueryState:
		p.Error(nil).JSON(wire.State{Revision: r.w.cluster.Store().Revision(), Steps: r.w.kernel.Steps(), Faults: r.w.run.FaultTotal()})
	default:
		p.Error(fmt.Errorf("query %q is not known", kind))
	}
	return p
}

func (r *remote) document(m *wire.Message, p *wire.Packet) {
	method, uri, header := m.Text(), m.Text(), m.Header()
	u, err := url.Parse(uri)
	var s *sink
	if err == nil {
		s, err = r.w.mapper.docs.get(method, u, header)
	}
	if p.Error(err); err == nil {
		p.Num(int64(s.code)).Header(s.header).Bytes(s.body)
	}
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
	var failed error
	s := r.w.cluster.Store()
	err = s.Walk(id, s.Revision(), "", func(key string, obj runtime.Object) bool {
		var data []byte
		if data, failed = encoded(res, obj); failed == nil {
			objects.Text(key).Bytes(data)
		}
		return failed == nil
	})
	if failed != nil {
		err = failed
	}
	if p.Error(err); err != nil {
		return
	}
	r.subs = append(r.subs, &subscription{resource: res, id: id})
	p.Num(int64(len(r.subs) - 1)).Text(res.Group).Text(res.Plural).Flag(res.Namespaced).Text(res.ListKind).Field(&objects)
}

// encoded returns an object of the Store as JSON, in the version that was asked for.
func encoded(res *types.Resource, obj runtime.Object) ([]byte, error) {
	obj, err := res.Strategy.Convert(obj)
	if err != nil {
		return nil, err
	}
	return json.Marshal(obj)
}

// committed tells of a change.
func (r *remote) committed(id store.ResourceID, v store.Committed) {
	for n, sub := range r.subs {
		if sub.id != id {
			continue
		}
		if v.Deleted {
			r.objects.Byte(wire.DoDelete).Num(int64(n)).Text(v.Key)
			continue
		}
		data, err := encoded(sub.resource, v.Object)
		if err != nil {
			r.w.kernel.Fail(err)
			return
		}
		r.objects.Byte(wire.DoObject).Num(int64(n)).Text(v.Key).Bytes(data)
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
