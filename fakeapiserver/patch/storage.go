package patch

import (
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// storage returns the resource's strategy if it carries out writes itself, otherwise nil.
func (q *Request) storage() types.Storage {
	s, _ := q.Resource.Strategy.(types.Storage)
	return s
}

// WriteOf returns what a Storage is to know of the request.
func (q *Request) WriteOf(live runtime.Object) *types.Write {
	return &types.Write{
		Subresource: q.Subresource, Namespace: q.Namespace, Name: q.Name, System: q.System, DryRun: q.DryRun, User: q.User, Live: live, Persisted: q.Persisted,
		CreateRefused: q.CreateRefused, List: q.List, Get: q.Get,
	}
}

// createIn creates an object in a Storage.
func (q *Request) createIn(s types.Storage, obj, live runtime.Object, warnings []string) (Result, error) {
	o, err := s.Create(q.WriteOf(live), obj)
	return q.outcome(&o, err, warnings)
}

// updateIn updates an object in a Storage. uid is the one that the client means, nil if it does not say.
func (q *Request) updateIn(s types.Storage, live runtime.Object, uid *apitypes.UID, change func(runtime.Object) (runtime.Object, error),
	warnings *[]string) (Result, error) {
	w := q.WriteOf(live)
	w.UID = uid
	o, err := s.Update(w, func(current runtime.Object) (runtime.Object, error) {
		obj, err := change(current)
		if err != nil {
			return nil, err
		}
		if live == nil {
			current = nil
		}
		return q.mutated(obj, current)
	})
	r, err := q.outcome(&o, err, *warnings)
	if r.Unchanged {
		r.Object = live
	}
	return r, err
}

func (q *Request) outcome(o *types.Outcome, err error, warnings []string) (Result, error) {
	r := Result{
		Object: o.Stored, Persisted: o.Persisted, Answer: o.Answer, Earlier: o.Earlier, Effects: o.Effects, Created: o.Created, Delete: o.Deleted,
		Unchanged: o.Stored == nil && !o.Deleted && o.Answer == nil && len(o.Effects) == 0, Warnings: append(warnings, o.Warnings...),
	}
	return r, err
}
