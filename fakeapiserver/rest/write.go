package rest

import (
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// body is the request's body as the types read it.
func (c *call) body(q url.Values) types.Body {
	return types.Body{Data: c.request.Body, ContentType: c.request.Header.Get("Content-Type"), Directive: q.Get("fieldValidation")}
}

// dryRun tells whether nothing may be stored: 422 for a value that is not All (S36).
func dryRun(q url.Values, kind string) (bool, error) {
	values, ok := q["dryRun"]
	if !ok {
		return false, nil
	}
	for _, v := range values {
		if v != metav1.DryRunAll {
			errs := field.ErrorList{field.NotSupported(field.NewPath("dryRun"), values, []string{metav1.DryRunAll})}
			return false, apierrors.NewInvalid(metav1.SchemeGroupVersion.WithKind(kind).GroupKind(), "", errs)
		}
	}
	return true, nil
}

func (c *call) create(q url.Values) {
	dry, err := dryRun(q, "CreateOptions")
	if err != nil {
		c.fail(err)
		return
	}
	obj, warnings, err := c.resource.Decode(c.body(q), "")
	if err != nil {
		c.fail(err)
		return
	}
	c.warnings = append(c.warnings, warnings...)
	if c.target.name != "" { // POST to a named path creates (S22)
		if err := c.resource.CheckName(obj, c.target.namespace, c.target.name); err != nil {
			c.fail(err)
			return
		}
	}
	stored, err := c.createObject(obj, dry)
	if err != nil {
		c.fail(err)
		return
	}
	c.object(http.StatusCreated, stored)
}

// createObject stores a new object, or, in a dry run, only says what would be stored.
func (c *call) createObject(obj runtime.Object, dry bool) (runtime.Object, error) {
	if rv := accessor(obj).GetResourceVersion(); rv != "" && rv != "0" {
		if _, err := parseRevision(rv); err == nil {
			return nil, fmt.Errorf("resourceVersion should not be set on objects to be created") // S2
		}
	}
	uid, suffix := c.server.cluster.Store().Mint(types.SuffixAlphabet, types.SuffixLength)
	warnings, err := c.resource.BeforeCreate(obj, types.System{Namespace: c.target.namespace, UID: uid, Now: c.server.now(), Suffix: suffix})
	if err != nil {
		return nil, err
	}
	c.warnings = append(c.warnings, warnings...)
	m := accessor(obj)
	m.SetResourceVersion("")
	if live := c.server.live(c.id, m.GetNamespace(), m.GetName()); live != nil {
		exists := apierrors.NewAlreadyExists(c.resource.GroupResource(), m.GetName())
		if accessor(live).GetDeletionTimestamp() != nil {
			exists.ErrStatus.Message = "object is being deleted: " + exists.ErrStatus.Message // S24
		}
		return nil, exists
	}
	if dry {
		return obj, nil
	}
	return c.server.cluster.Create(c.id, obj)
}

func (c *call) update(q url.Values) {
	if c.target.name == "" {
		c.fail(apierrors.NewBadRequest("name must be provided")) // S22
		return
	}
	dry, err := dryRun(q, "UpdateOptions")
	if err != nil {
		c.fail(err)
		return
	}
	obj, warnings, err := c.resource.Decode(c.body(q), c.target.subresource)
	if err != nil {
		c.fail(err)
		return
	}
	c.warnings = append(c.warnings, warnings...)
	if err := c.resource.CheckName(obj, c.target.namespace, c.target.name); err != nil {
		c.fail(err)
		return
	}
	live := c.server.live(c.id, c.target.namespace, c.target.name)
	if live == nil {
		c.fail(apierrors.NewNotFound(c.resource.GroupResource(), c.target.name))
		return
	}
	if c.target.subresource == types.Scale {
		if obj, err = c.fromScale(live, obj); err != nil {
			c.fail(err)
			return
		}
	}
	stored, err := c.replace(live, obj, dry)
	if err != nil {
		c.fail(err)
		return
	}
	c.answerWith(stored)
}

// answerWith answers with what was stored, as the request's subresource shows it.
func (c *call) answerWith(stored runtime.Object) {
	if c.target.subresource == types.Scale {
		scale, err := c.scaleOf(stored)
		if err != nil {
			c.fail(err)
			return
		}
		stored = scale
	}
	c.object(http.StatusOK, stored)
}

// replace stores a new state of an object. Stale beats invalid (S3), nothing changed means nothing stored (S4), and the last
// finalizer's removal from an object that is being deleted deletes it (S18).
func (c *call) replace(live, obj runtime.Object, dry bool) (runtime.Object, error) {
	m, old := accessor(obj), accessor(live)
	if err := c.checkVersion(m, old, obj); err != nil {
		return nil, err
	}
	m.SetResourceVersion(old.GetResourceVersion())
	warnings, err := c.resource.BeforeUpdate(obj, live, c.target.namespace, c.target.subresource)
	if err != nil {
		return nil, err
	}
	c.warnings = append(c.warnings, warnings...)
	if equality.Semantic.DeepEqual(obj, live) {
		return live, nil
	}
	if m.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) == 0 && graceOf(m) == 0 {
		if !dry {
			if _, err := c.server.cluster.Delete(c.id, m.GetNamespace(), m.GetName(), nil); err != nil {
				return nil, err
			}
		}
		return obj, nil
	}
	if dry {
		return obj, nil
	}
	m.SetResourceVersion("")
	return c.server.cluster.Update(c.id, obj)
}

// checkVersion compares the resourceVersion that a write insists on, and the uid, with what is stored.
func (c *call) checkVersion(m, old metav1.Object, obj runtime.Object) error {
	rv := m.GetResourceVersion()
	n, err := parseRevision(rv)
	if err != nil {
		return err // 500 without a reason (S2)
	}
	if n == 0 && !c.resource.UnconditionalUpdate {
		errs := field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), n, "must be specified for an update")}
		return apierrors.NewInvalid(obj.GetObjectKind().GroupVersionKind().GroupKind(), m.GetName(), errs)
	}
	if n != 0 && rv != old.GetResourceVersion() {
		return apierrors.NewConflict(c.resource.GroupResource(), m.GetName(),
			fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return nil
}

func parseRevision(rv string) (int64, error) { return fakeapiserver.ParseRevision(rv) }
