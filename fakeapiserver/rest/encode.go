package rest

import (
	"errors"
	"fmt"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// encoder encodes the answers to one request.
type encoder struct {
	ask    render.Ask
	format render.Format
	view   *render.View
	// viewErr is an error in the options of the view. It is reported only when there is an object to show.
	viewErr error
	// form and item are the forms in which objects and list items are cached; nil if they are not.
	form, item *render.Form
}

// askOf returns what a request's headers and query ask of the answer's form.
func askOf(r *Request) render.Ask {
	return render.Ask{
		Accept: strings.Join(r.Header.Values("Accept"), ","), UserAgent: r.Header.Get("User-Agent"), Query: r.URL.Query(),
	}
}

// negotiate finds a form in which the resource can be shown as requested; 406 if there is none.
func negotiate(c *call) (err error) {
	e := &c.encoder
	if e.format, err = e.ask.Negotiate(c.resource, c.target.subresource); err != nil {
		return err
	}
	if e.view, e.viewErr = render.NewView(e.format, c.resource, c.target.subresource, e.ask.Query); e.viewErr != nil {
		if e.view, err = render.NewView(e.format, c.resource, c.target.subresource, nil); err != nil {
			return err
		}
	}
	e.form, e.item = c.server.forms.Object(e.view), c.server.forms.Item(e.view)
	return nil
}

// memoOf returns the memo of item i of a page, nil if it has none.
func memoOf(page *fakeapiserver.Page, i int) *store.Memo {
	if i >= len(page.Memos) {
		return nil
	}
	return page.Memos[i]
}

// source returns a Source without its object.
func (e *encoder) source(c *call, form *render.Form) render.Source {
	return render.Source{
		View: e.view, Form: form, Now: c.server.cluster.Kernel().Clock().Now(),
		Convert: func(obj runtime.Object) (runtime.Object, error) { return converted(c, obj) },
	}
}

// object encodes an object as requested.
func (e *encoder) object(c *call, obj runtime.Object, memo *store.Memo) (render.Body, error) {
	if e.viewErr != nil {
		return render.Body{}, e.viewErr
	}
	if memo != nil && e.form != nil && !e.format.Pretty {
		s := e.source(c, e.form)
		s.Object, s.Event = obj, memo.Event
		return memoOfVersion(memo).encoded.Whole(&s)
	}
	obj, err := converted(c, obj)
	if err != nil {
		return render.Body{}, err
	}
	return e.encodeView(c, obj)
}

func (e *encoder) encodeView(c *call, obj runtime.Object) (render.Body, error) {
	shown, err := e.view.Of(obj, c.server.cluster.Kernel().Clock().Now())
	if err != nil {
		return render.Body{}, err
	}
	data, err := e.format.Encode(shown)
	return render.Body{Head: data}, err
}

// converted returns the object in the request's version; objects of other kinds are returned unchanged.
func converted(c *call, obj runtime.Object) (runtime.Object, error) {
	kind := obj.GetObjectKind().GroupVersionKind()
	if kind.Kind != c.resource.Kind || kind.Group != c.resource.Group && kind.Group != c.resource.StoreResource().Group {
		return obj, nil
	}
	shown, err := c.resource.Strategy.Convert(obj)
	if err != nil && c.single {
		err = c.corrupt(err)
	}
	return shown, err
}

// corrupt words the error of an object that cannot be read in the request's version, as a real server's store does.
func (c *call) corrupt(err error) error {
	var undecodable *types.Undecodable
	if !errors.As(err, &undecodable) {
		return err
	}
	c.delay(err) // the Status has only its text
	key := "/" + c.resource.Group + "/" + c.resource.Plural + "/" + path.Join(c.target.namespace, c.target.name)
	return apierrors.NewInternalError(fmt.Errorf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %w", key, err))
}

// readable fails if the target cannot be read in the request's version; nothing can then be done to it.
func (c *call) readable() error {
	if live := c.live(); live != nil && c.resource.Custom && c.resource.Version != c.resource.StorageVersion {
		if _, err := c.resource.Strategy.Convert(live); err != nil {
			return c.corrupt(err)
		}
	}
	return nil
}

// list encodes a page.
func (e *encoder) list(c *call, page *fakeapiserver.Page) (render.Body, error) {
	if e.viewErr != nil {
		return render.Body{}, e.viewErr
	}
	m := metav1.ListMeta{ResourceVersion: page.ResourceVersion, Continue: page.Continue, RemainingItemCount: page.RemainingItemCount}
	if e.item != nil {
		if b, ok, err := e.listFromMemos(c, page, m); ok || err != nil {
			return b, err
		}
	}
	items := make([]runtime.Object, len(page.Items))
	for i, obj := range page.Items {
		var err error
		if items[i], err = converted(c, obj); err != nil {
			return render.Body{}, err
		}
	}
	list, err := render.List(c.resource, items, m)
	if err != nil {
		return render.Body{}, err
	}
	return e.encodeView(c, list)
}

// listFromMemos assembles a list from the cached bytes of its items; ok is false if that is not possible.
func (e *encoder) listFromMemos(c *call, page *fakeapiserver.Page, m metav1.ListMeta) (b render.Body, ok bool, err error) {
	if len(page.Memos) != len(page.Items) {
		return b, false, nil
	}
	items := make([][]byte, len(page.Items))
	s := e.source(c, e.item)
	for i, memo := range page.Memos {
		if memo == nil {
			return b, false, nil // it was committed before memos existed
		}
		s.Object, s.Event = page.Items[i], memo.Event
		if items[i], ok, err = memoOfVersion(memo).encoded.Item(&s); !ok || err != nil {
			return b, false, err
		}
	}
	return render.ListBody(e.view, items, m, s.Now)
}

// frame encodes a watch event for the wire.
func (e *encoder) frame(c *call, ev fakeapiserver.Event) ([]byte, error) {
	if u, ok := ev.Object.(*unstructured.Unstructured); ok && ev.Type == watch.Bookmark {
		// A bookmark is not an object: the schema of the request's version must not default it.
		u = u.DeepCopy()
		u.SetGroupVersionKind(c.resource.GroupVersionKind())
		return e.view.Frame(ev.Type, u, c.server.cluster.Kernel().Clock().Now())
	}
	if ev.Memo != nil && e.form != nil {
		s := e.source(c, e.form)
		s.Object, s.Event = ev.Object, ev.Memo.Event
		return memoOfVersion(ev.Memo).encoded.Frame(ev.Type, &s)
	}
	obj, err := converted(c, ev.Object)
	if t, ok := c.resource.Strategy.(types.Storage); ok && ev.Type == watch.Bookmark {
		obj, err = t.Bookmark(ev.Object)
	}
	if err != nil {
		return nil, err
	}
	return e.view.Frame(ev.Type, obj, c.server.cluster.Kernel().Clock().Now())
}
