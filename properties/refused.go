package properties

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// What an informer's own transform fails for never gets into its queue (I112). That is the user's doing: properties of what an informer makes of
// frames and lists leave these out.

// lost reports whether the transform of an informer fails for the object of a frame.
func lost(w World, informer sim.ActorID, r *sim.Record) bool {
	obj, ok := r.Obj.(runtime.Object)
	if !ok || r.Key == "" {
		return false
	}
	inf := w.InformerOf(informer)
	return inf != nil && inf.Refuses(obj)
}

// refusesItems reports whether the transform of a connection's informer fails for an object of a page.
func refusesItems(w World, conn sim.ActorID, items []runtime.Object) bool {
	id, ok := watcherOf(w, &sim.Record{Actor: conn})
	if !ok {
		return false
	}
	inf := w.InformerOf(id)
	return inf != nil && slices.ContainsFunc(items, inf.Refuses)
}

// refusesList reports whether an informer's transform fails for an object that it would list now.
func refusesList(w World, inf subjects.Informer) bool {
	refused := false
	s := w.Cluster().Store()
	err := s.Walk(inf.Resource(), s.Revision(), "", func(_ string, obj runtime.Object) bool {
		refused = inf.Selects(obj) && inf.Refuses(obj)
		return !refused
	})
	return err == nil && refused
}
