package gates

import (
	"fmt"
	"reflect"
	"time"

	"k8s.io/client-go/tools/cache"
)

// queueView reads the queue inside a running informer. Its methods may be called only while the bubble is quiescent.
type queueView struct {
	QueueInfo
	queue reflect.Value
	list  reflect.Value // the keys of a DeltaFIFO, the deltas of a RealFIFO
}

// viewQueue returns a view of a started informer's queue.
func viewQueue(inf cache.SharedIndexInformer) (*queueView, error) {
	top, err := deref(reflect.ValueOf(inf), "the informer")
	if err != nil {
		return nil, err
	}
	v := top
	for _, name := range []string{"controller", "config", "Queue"} {
		if v, err = field(v, name); err != nil {
			return nil, err
		}
	}
	q := &queueView{queue: v}
	period, err := field(top, "resyncCheckPeriod")
	if err != nil {
		return nil, err
	}
	q.Resync = time.Duration(period.Int())
	switch name := v.Type().Name(); name {
	case "DeltaFIFO":
		q.Delta = true
		q.list, err = field(v, "queue")
	case "RealFIFO":
		// Releases without this field have no atomic events.
		if atomic := v.FieldByName("emitAtomicEvents"); atomic.IsValid() {
			q.Atomic = atomic.Bool()
		}
		q.list, err = field(v, "items")
	default:
		err = fmt.Errorf("this client-go has an unknown queue, %s", name)
	}
	if err != nil {
		return nil, err
	}
	if q.list.Kind() != reflect.Slice || q.Delta && q.list.Type().Elem().Kind() != reflect.String {
		return nil, fmt.Errorf("this client-go keeps its queue in a %v", q.list.Type())
	}
	return q, nil
}

func field(v reflect.Value, name string) (reflect.Value, error) {
	if v.Kind() != reflect.Struct {
		return v, fmt.Errorf("this client-go has a %v where a struct with %s was expected", v.Type(), name)
	}
	f := v.FieldByName(name)
	if !f.IsValid() {
		return f, fmt.Errorf("this client-go has no %s.%s", v.Type(), name)
	}
	return deref(f, name)
}

func deref(v reflect.Value, name string) (reflect.Value, error) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return v, fmt.Errorf("this client-go has not set %s", name)
		}
		v = v.Elem()
	}
	return v, nil
}

// len returns the number of entries.
func (q *queueView) len() int { return q.list.Len() }

// key returns the key of the i-th entry of a DeltaFIFO.
func (q *queueView) key(i int) string { return q.list.Index(i).String() }
