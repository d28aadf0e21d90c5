package rest

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// deletesIn returns the Storage that decides about deletes of the resource, nil if there is none. Where namespaces have no life of
// their own, one would wait for ever to be finalized.
func (c *call) deletesIn() types.Storage {
	if c.ofNamespaces() && !c.server.namespaces {
		return nil
	}
	s, _ := c.resource.Strategy.(types.Storage)
	return s
}

// deleteIn answers a delete whose outcome a Storage decides.
func (c *call) deleteIn(s types.Storage, live runtime.Object, o *metav1.DeleteOptions) {
	answer, gone, err := c.removeIn(s, live, c.target.namespace, c.target.name, o)
	switch {
	case err != nil:
		c.fail(err)
	case !gone && o.OrphanDependents != nil && !*o.OrphanDependents:
		c.answerObject(http.StatusAccepted, answer)
	default:
		c.answerObject(http.StatusOK, answer)
	}
}

// removeIn carries out the delete of an object, and returns the answer. gone is set if the object has gone away; if not, it is only marked.
func (c *call) removeIn(s types.Storage, live runtime.Object, namespace, name string, o *metav1.DeleteOptions) (answer runtime.Object, gone bool, err error) {
	request := c.writeRequest(live)
	request.Namespace, request.Name, request.DryRun = namespace, name, len(o.DryRun) > 0
	outcome, err := s.Delete(request.WriteOf(live), o)
	if c.verb == verbDelete { // of a collection, each object is deleted below what warns
		c.warnings = append(c.warnings, outcome.Warnings...)
	}
	if err != nil || request.DryRun {
		return outcome.Answer, outcome.Deleted, err
	}
	answer = live
	if outcome.Stored != nil {
		if answer, err = c.server.cluster.Update(c.id, outcome.Stored); err != nil {
			return nil, false, err
		}
	}
	if outcome.Deleted {
		if answer, err = c.server.cluster.Delete(c.id, namespace, name, nil); err != nil {
			return nil, false, err
		}
	}
	if err := c.effects(outcome.Effects, true); err != nil {
		return nil, false, err
	}
	if outcome.Answer != nil {
		answer = outcome.Answer
	}
	return answer, outcome.Deleted, nil
}

// list returns the newest state of the objects of a resource, of one namespace or, for "", of all.
func (s *Server) list(gr schema.GroupResource, namespace string) []runtime.Object {
	id, ok := s.ids[gr]
	if !ok {
		return nil
	}
	page, err := s.cluster.ListNow(id, namespace, metav1.ListOptions{})
	if err != nil {
		return nil // cannot happen: nothing is asked for
	}
	return page.Items
}
