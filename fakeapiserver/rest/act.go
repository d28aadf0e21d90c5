package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Some POSTs create no object of the kind that they send: reviews are answered and never stored, a binding or an eviction changes a Pod,
// a token request makes a token.

// ownClient is the User-Agent of the server's own requests.
const ownClient = "kube-apiserver"

// acts reports whether the request is such a POST.
func (c *call) acts() bool {
	_, storage := c.resource.Strategy.(types.Storage)
	return storage && c.verb == verbCreate && (c.target.subresource != "" || !slices.Contains(c.resource.Verbs, string(verbGet)))
}

// act answers it.
func (c *call) act(query url.Values) {
	var o metav1.CreateOptions
	if err := options(query, &o); err != nil {
		c.fail(err)
		return
	}
	var live runtime.Object
	if c.target.name != "" {
		live = c.live()
	}
	result, err := c.server.writer.Act(c.writeRequest(live), live, c.body(), &o)
	c.warnings = append(c.warnings, result.Warnings...)
	if err == nil && len(o.DryRun) == 0 {
		err = c.carry(&result)
	}
	if err != nil {
		c.fail(err)
		return
	}
	code, answer := http.StatusCreated, result.Answer
	if status, ok := answer.(*metav1.Status); ok && status.Code == 0 {
		status.Code = http.StatusCreated
	} else if ok {
		code = int(status.Code) // an eviction that two budgets forbid fails with a status, not with an error
	}
	c.answerObject(code, answer)
}

// carry stores what an act has changed, in its order.
func (c *call) carry(result *patch.Result) error {
	if err := c.effects(result.Effects, false); err != nil {
		return err
	}
	states := result.Earlier
	if result.Object != nil {
		states = append(slices.Clone(states), result.Object)
	}
	for _, obj := range states {
		accessor(obj).SetResourceVersion("") // what is stored before it has raised it
		if _, err := c.server.cluster.Update(c.id, obj); err != nil {
			return err
		}
	}
	if result.Delete {
		if _, err := c.server.cluster.Delete(c.id, c.target.namespace, c.target.name, nil); err != nil {
			return err
		}
	}
	return c.effects(result.Effects, true)
}

// effects carries out what comes after a write, or what comes before it. If that fails, what it has created goes away again.
func (c *call) effects(all []types.Effect, after bool) error {
	for i := range all {
		if all[i].After != after {
			continue
		}
		if err := c.server.effect(&all[i]); err != nil {
			c.undo(all[:i])
			return err
		}
	}
	return nil
}

// undo deletes what effects have created, as the write that they are for has failed.
func (c *call) undo(effects []types.Effect) {
	for i := range effects {
		if e := &effects[i]; e.Create != nil {
			_ = c.server.effect(&types.Effect{Resource: e.Resource, Delete: accessor(e.Create).GetName()}) // the first error counts
		}
	}
}

// effect changes an object that the request does not name.
func (s *Server) effect(e *types.Effect) error {
	id, ok := s.cluster.FindResource(e.Resource)
	if !ok {
		return apierrors.NewInternalError(fmt.Errorf("%s are not served", e.Resource))
	}
	switch {
	case e.Put != nil:
		return s.put(id, e)
	case e.Create != nil:
		return s.post(id, e)
	case e.Delete != "":
		if s.live(id, "", e.Delete) == nil {
			return nil // a client has been faster
		}
		_, err := s.cluster.Delete(id, "", e.Delete, nil)
		return err
	}
	_, err := s.cluster.Update(id, e.Stored)
	return err
}

// get returns the newest state of an object, nil if there is none.
func (s *Server) get(gr schema.GroupResource, namespace, name string) runtime.Object {
	id, ok := s.cluster.FindResource(gr)
	if !ok {
		return nil
	}
	return s.live(id, namespace, name)
}

// resourceOf returns a served version of a resource, nil if there is none.
func (s *Server) resourceOf(gr schema.GroupResource) *types.Resource {
	for _, r := range s.types.All() {
		if r.GroupResource() == gr {
			return r
		}
	}
	return nil
}
