package rest

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/render"
)

// encoder is how one request wants its answer.
type encoder struct {
	ask    render.Ask
	format render.Format
	view   *render.View
}

// askOf reads what a request's headers and query say about the form of its answer.
func askOf(r *Request) render.Ask {
	return render.Ask{
		Accept: strings.Join(r.Header.Values("Accept"), ","), UserAgent: r.Header.Get("User-Agent"), Query: r.URL.Query(),
	}
}

// negotiate finds the form in which the resource can be shown as asked for; 406 if there is none.
func negotiate(c *call) (err error) {
	e := &c.encoder
	if e.format, err = e.ask.Negotiate(c.resource, c.target.subresource); err != nil {
		return err
	}
	e.view, err = render.NewView(e.format, c.resource, c.target.subresource, e.ask.Query)
	return err
}

// object encodes an object as it was asked for.
func (e *encoder) object(c *call, obj runtime.Object) ([]byte, error) {
	obj, err := converted(c, obj)
	if err != nil {
		return nil, err
	}
	return e.shown(c, obj)
}

func (e *encoder) shown(c *call, obj runtime.Object) ([]byte, error) {
	shown, err := e.view.Of(obj, c.server.cluster.Kernel().Clock().Now())
	if err != nil {
		return nil, err
	}
	return e.format.Encode(shown)
}

// converted is the object in the request's version; kinds that are not the resource's own stay what they are.
func converted(c *call, obj runtime.Object) (runtime.Object, error) {
	own := schema.GroupKind{Group: c.resource.Group, Kind: c.resource.Kind}
	if obj.GetObjectKind().GroupVersionKind().GroupKind() != own {
		return obj, nil
	}
	return c.resource.Strategy.Convert(obj)
}

// list encodes a page.
func (e *encoder) list(c *call, page *fakeapiserver.Page) ([]byte, error) {
	items := make([]runtime.Object, len(page.Items))
	for i, obj := range page.Items {
		var err error
		if items[i], err = converted(c, obj); err != nil {
			return nil, err
		}
	}
	list, err := render.List(c.resource, items, metav1.ListMeta{
		ResourceVersion: page.ResourceVersion, Continue: page.Continue, RemainingItemCount: page.RemainingItemCount,
	})
	if err != nil {
		return nil, err
	}
	return e.shown(c, list)
}

// frame encodes a watch event as it goes over the wire.
func (e *encoder) frame(c *call, ev fakeapiserver.Event) ([]byte, error) {
	if u, ok := ev.Object.(*unstructured.Unstructured); ok && ev.Type == watch.Bookmark {
		// It is no object, which the schema of the request's version might default.
		u = u.DeepCopy()
		u.SetGroupVersionKind(c.resource.GroupVersionKind())
		return e.view.Frame(ev.Type, u, c.server.cluster.Kernel().Clock().Now())
	}
	obj, err := converted(c, ev.Object)
	if err != nil {
		return nil, err
	}
	return e.view.Frame(ev.Type, obj, c.server.cluster.Kernel().Clock().Now())
}
