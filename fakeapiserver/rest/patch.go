package rest

import (
	"encoding/json"
	"net/http"
	"net/url"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/informersim/informersim/fakeapiserver/types"
)

func (c *call) patch(q url.Values) {
	if c.target.name == "" {
		c.fail(apierrors.NewBadRequest("name must be provided")) // S22
		return
	}
	dry, err := dryRun(q, "PatchOptions")
	if err != nil {
		c.fail(err)
		return
	}
	live := c.server.live(c.id, c.target.namespace, c.target.name)
	if live == nil {
		c.fail(apierrors.NewNotFound(c.resource.GroupResource(), c.target.name))
		return
	}
	patched, err := c.patched(live, q)
	if err != nil {
		c.fail(err)
		return
	}
	stored, err := c.replace(live, patched, dry)
	if err != nil {
		c.fail(err)
		return
	}
	c.answerWith(stored)
}

// patched is live with the request's patch applied, decoded as a body would be.
func (c *call) patched(live runtime.Object, q url.Values) (runtime.Object, error) {
	shown := live
	if c.target.subresource == types.Scale {
		var err error
		if shown, err = c.scaleOf(live); err != nil {
			return nil, err
		}
	}
	before, err := json.Marshal(shown)
	if err != nil {
		return nil, err
	}
	after, err := c.applyPatch(before)
	if err != nil {
		return nil, err
	}
	obj, warnings, err := c.resource.Decode(types.Body{Data: after, ContentType: types.JSON, Directive: q.Get("fieldValidation")}, c.target.subresource)
	if err != nil {
		return nil, err
	}
	c.warnings = append(c.warnings, warnings...)
	if c.target.subresource == types.Scale {
		return c.fromScale(live, obj)
	}
	return obj, nil
}

// applyPatch applies the request's body to a document, by its media type.
func (c *call) applyPatch(before []byte) ([]byte, error) {
	patch := c.request.Body
	switch t := apitypes.PatchType(mediaType(c.request.Header.Get("Content-Type"))); t {
	case apitypes.JSONPatchType:
		p, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		after, err := p.Apply(before)
		if err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", c.resource.GroupResource(), "", err.Error(), 0, false)
		}
		return after, nil
	case apitypes.MergePatchType:
		after, err := jsonpatch.MergePatch(before, patch)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return after, nil
	case apitypes.StrategicMergePatchType:
		if m, ok := c.resource.Strategy.(types.MergeSchema); ok {
			after, err := strategicpatch.StrategicMergePatch(before, patch, m.MergeExample())
			if err != nil {
				return nil, apierrors.NewBadRequest(err.Error())
			}
			return after, nil
		}
	}
	accepted := []string{string(apitypes.JSONPatchType), string(apitypes.MergePatchType)}
	if _, ok := c.resource.Strategy.(types.MergeSchema); ok {
		accepted = append(accepted, string(apitypes.StrategicMergePatchType))
	}
	return nil, types.NewUnsupportedMediaType(accepted)
}
