package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// deleteOptions reads the options of a delete from the body, or from the query if there is no body (S23).
func (c *call) deleteOptions(q url.Values, withQuery bool) (metav1.DeleteOptions, error) {
	var o metav1.DeleteOptions
	switch {
	case len(c.request.Body) > 0:
		if err := c.decodeDeleteOptions(&o); err != nil {
			return o, err
		}
	case withQuery:
		if err := options(q, &o); err != nil {
			return o, err
		}
	}
	if errs := validation.ValidateDeleteOptions(&o); len(errs) > 0 {
		return o, apierrors.NewInvalid(deleteOptionsKind, "", errs)
	}
	return o, nil
}

// deleteOptionsKind is the kind that a 422 about delete options names.
var deleteOptionsKind = schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}

func (c *call) decodeDeleteOptions(o *metav1.DeleteOptions) error {
	contentType := c.request.Header.Get("Content-Type")
	if contentType == "" {
		contentType = types.JSON
	}
	info, ok := runtime.SerializerInfoForMediaType(metainternalscheme.Codecs.SupportedMediaTypes(), mediaType(contentType))
	if !ok {
		return types.NewUnsupportedMediaType([]string{types.JSON, types.YAML, types.Protobuf})
	}
	kind := schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}
	obj, _, err := metainternalscheme.Codecs.DecoderToVersion(info.Serializer, kind.GroupVersion()).Decode(c.request.Body, &kind, o)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if obj != o {
		return apierrors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
	}
	return nil
}

func (c *call) delete(q url.Values) {
	o, err := c.deleteOptions(q, true)
	if err != nil {
		c.fail(err)
		return
	}
	live := c.server.live(c.id, c.target.namespace, c.target.name)
	if err := c.immortalError(live); err != nil {
		c.fail(err)
		return
	}
	if s := c.deletesIn(); s != nil && (live == nil || o.IgnoreStoreReadErrorWithClusterBreakingPotential == nil) {
		c.deleteIn(s, live, &o)
		return
	}
	if err := types.NameError(c.target.name); err != nil {
		c.fail(err)
		return
	}
	if live == nil {
		c.fail(apierrors.NewNotFound(c.resource.GroupResource(), c.target.name))
		return
	}
	if err := c.readable(); err != nil {
		c.fail(err)
		return
	}
	if unsafe := o.IgnoreStoreReadErrorWithClusterBreakingPotential; unsafe != nil && *unsafe {
		c.fail(patch.ReadableConflict(c.resource, c.target.namespace, c.target.name)) // no object here is ever unreadable
		return
	}
	final, gone, err := c.remove(live, &o)
	switch {
	case err != nil:
		c.fail(err)
	case gone:
		m := accessor(final)
		st := &metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
			Details: &metav1.StatusDetails{Name: m.GetName(), Group: c.resource.Group, Kind: c.resource.Plural, UID: m.GetUID()},
		}
		c.answerObject(http.StatusOK, st) // a Status looks the same in every view
	case o.OrphanDependents != nil && !*o.OrphanDependents:
		c.answerObject(http.StatusAccepted, final)
	default:
		c.answerObject(http.StatusOK, final)
	}
}

// remove deletes an object, or marks it as being deleted if finalizers or a grace period keep it; gone reports which.
func (c *call) remove(live runtime.Object, o *metav1.DeleteOptions) (final runtime.Object, gone bool, err error) {
	if s := c.deletesIn(); s != nil {
		m := accessor(live)
		return c.removeIn(s, live, m.GetNamespace(), m.GetName(), o)
	}
	m := accessor(live)
	if err := c.preconditions(m, o.Preconditions); err != nil {
		return nil, false, err
	}
	dryRun := len(o.DryRun) > 0
	// A deletecollection goes to the storage below the strategy, which marks nothing.
	if t, ok := c.resource.Strategy.(types.Terminator); ok && c.verb == verbDelete && m.GetDeletionTimestamp() == nil {
		return c.terminate(t, live, dryRun)
	}
	finalizers := deletionFinalizers(m.GetFinalizers(), o)
	grace := int64(0)
	if len(finalizers) == 0 {
		if !dryRun {
			if _, err := c.server.cluster.Delete(c.id, m.GetNamespace(), m.GetName(), nil); err != nil {
				return nil, false, err
			}
		}
		return live, true, nil
	}
	if m.GetDeletionTimestamp() != nil && m.GetDeletionGracePeriodSeconds() != nil && slices.Equal(finalizers, m.GetFinalizers()) && graceOf(m) <= grace {
		return live, false, nil // it is already being deleted (S24)
	}
	marked := live.DeepCopyObject()
	n := accessor(marked)
	if n.GetDeletionTimestamp() == nil {
		n.SetGeneration(n.GetGeneration() + 1)
	}
	at := metav1.NewTime(c.server.now())
	if _, terminated := c.resource.Strategy.(types.Terminator); !terminated {
		n.SetDeletionTimestamp(&at)
	}
	n.SetDeletionGracePeriodSeconds(&grace)
	n.SetFinalizers(finalizers)
	if dryRun {
		return marked, false, nil
	}
	n.SetResourceVersion("")
	stored, err := c.server.cluster.Update(c.id, marked)
	return stored, false, err
}

// terminate handles the first delete of an object that needs cleanup: it only marks it.
func (c *call) terminate(t types.Terminator, live runtime.Object, dryRun bool) (marked runtime.Object, gone bool, err error) {
	marked = live.DeepCopyObject()
	t.Terminate(marked, metav1.NewTime(c.server.now()))
	if !dryRun {
		marked, err = c.server.cluster.Update(c.id, marked)
	}
	return marked, false, err
}

func graceOf(m metav1.Object) int64 {
	if g := m.GetDeletionGracePeriodSeconds(); g != nil {
		return *g
	}
	return 0
}

// preconditions checks p against the stored object.
func (c *call) preconditions(m metav1.Object, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	conflict := func(format string, args ...any) error {
		gr := schema.GroupResource{Group: c.resource.Group, Resource: c.resource.Kind}
		return apierrors.NewConflict(gr, m.GetName(), fmt.Errorf(format, args...))
	}
	if _, ok := c.resource.Strategy.(types.Terminator); ok {
		return c.terminatorPreconditions(m, p)
	}
	if p.UID != nil && *p.UID != m.GetUID() {
		return conflict("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, m.GetUID())
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != m.GetResourceVersion() {
		return conflict("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, m.GetResourceVersion())
	}
	return nil
}

// terminatorPreconditions does the same with the error texts of resources that check preconditions themselves.
func (c *call) terminatorPreconditions(m metav1.Object, p *metav1.Preconditions) error {
	conflict := func(what, asked, have string) error {
		return apierrors.NewConflict(c.resource.GroupResource(), m.GetName(), fmt.Errorf("precondition failed: %s in precondition: %s, %s in object meta: %s", what, asked, what, have))
	}
	if p.UID != nil && *p.UID != m.GetUID() {
		return conflict("UID", string(*p.UID), string(m.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != m.GetResourceVersion() {
		return conflict("ResourceVersion", *p.ResourceVersion, m.GetResourceVersion())
	}
	return nil
}

// deletionFinalizers returns an object's finalizers once a delete with these options has begun: orphaning and foreground deletion
// are finalizers that the garbage collector removes.
func deletionFinalizers(have []string, o *metav1.DeleteOptions) []string {
	orphan, foreground := slices.Contains(have, metav1.FinalizerOrphanDependents), slices.Contains(have, metav1.FinalizerDeleteDependents)
	switch {
	case o.OrphanDependents != nil:
		orphan, foreground = *o.OrphanDependents, false
	case o.PropagationPolicy != nil:
		orphan = *o.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *o.PropagationPolicy == metav1.DeletePropagationForeground
	}
	var out []string
	for _, f := range have {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			out = append(out, f)
		}
	}
	if orphan {
		out = append(out, metav1.FinalizerOrphanDependents)
	}
	if foreground {
		out = append(out, metav1.FinalizerDeleteDependents)
	}
	return out
}
