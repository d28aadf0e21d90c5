package rest

import (
	"context"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// deletion is an object that is to be deleted, and the review of that.
type deletion struct {
	live   runtime.Object
	old    *unstructured.Unstructured
	review AdmissionReview
}

// asDelete carries out a delete, after the webhooks that are to be asked about it.
func (c *call) asDelete(q url.Values) (cancel func()) {
	remove := func() { c.delete(q) }
	if !c.server.asks() {
		return c.atReplica(remove)
	}
	o, err := c.deleteOptions(q, true)
	live := c.live()
	if err != nil || live == nil || types.NameError(c.target.name) != nil {
		return c.atReplica(remove)
	}
	d := c.deletionOf(live, c.target.name, &o)
	if d == nil {
		return c.atReplica(remove)
	}
	return c.deleteAfter([]*deletion{d}, func(a *admitting) {
		if now := c.live(); now != nil && now != live {
			c.answer, c.answered = func() { a.undo = c.asDelete(q) }, "asked again: the object has changed meanwhile"
			return
		}
		remove()
	})
}

// asDeleteCollection does the same with many objects. If one may not be deleted, none is; a real server has deleted those before it.
func (c *call) asDeleteCollection(q url.Values) (cancel func()) {
	remove := func() { c.deleteCollection(q) }
	if !c.server.asks() {
		return c.atReplica(remove)
	}
	page, o, _, err := c.collection(q)
	if err != nil {
		return c.atReplica(remove)
	}
	var all []*deletion
	for _, item := range page.Items {
		m := accessor(item)
		if live := c.server.live(c.id, m.GetNamespace(), m.GetName()); live != nil {
			if d := c.deletionOf(live, "", &o); d != nil {
				all = append(all, d)
			}
		}
	}
	if len(all) == 0 {
		return c.atReplica(remove)
	}
	return c.deleteAfter(all, func(*admitting) { remove() })
}

// deletionOf begins the review of a deletion, nil if nobody is to be asked about it. name is "" for one of many.
func (c *call) deletionOf(live runtime.Object, name string, o *metav1.DeleteOptions) *deletion {
	review := c.server.admission.Begin(AdmissionWrite{
		Resource: c.resource, Subresource: c.target.subresource, Namespace: c.target.namespace, Name: name, Operation: "DELETE",
		Options: withKind(o), DryRun: len(o.DryRun) > 0, User: c.request.User, Client: c.request.Client,
	})
	if review == nil {
		return nil
	}
	shown, err := c.resource.Strategy.Convert(live)
	if err != nil {
		return nil // the delete meets it, too
	}
	return &deletion{live: live, old: c.shown(shown), review: review}
}

// deleteAfter asks about deletions, one after the other, and then carries them out at the replica.
func (c *call) deleteAfter(all []*deletion, remove func(*admitting)) (cancel func()) {
	ctx, stop := context.WithCancel(context.Background())
	a := &admitting{call: c, ctx: ctx}
	var warnings []string
	var err error
	a.outside(func() {
		warnings = nil
		for _, d := range all {
			var more []string
			if more, err = d.review.Mutate(ctx, nil, d.old); err == nil {
				warnings = append(warnings, more...)
				more, err = d.review.Validate(ctx, nil, d.old)
			}
			if warnings = append(warnings, more...); err != nil {
				return
			}
		}
	}, func() {
		c.warnings = append(c.warnings, warnings...)
		a.atReplica(func() {
			if err != nil {
				c.fail(err)
				return
			}
			remove(a)
		})
	})
	return func() {
		a.gone = true
		stop()
		a.undo()
	}
}
