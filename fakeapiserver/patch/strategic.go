package patch

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// strategic applies a strategic merge patch. Only Go types support it: their struct tags say how lists merge.
func (p *patcher) strategic(live runtime.Object) (runtime.Object, error) {
	example, err := p.example()
	if err != nil {
		return nil, err
	}
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, err
	}
	wanted := map[string]any{}
	var found []error
	if p.ignores() {
		err = kjson.UnmarshalCaseSensitivePreserveInts(p.data, &wanted)
	} else {
		found, err = kjson.UnmarshalStrict(p.data, &wanted)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	after, err := strategicpatch.StrategicMergeMapPatch(before, wanted, example)
	if err != nil {
		return nil, strategicError(err)
	}
	shown := fmt.Sprintf("%+v", wanted)
	obj := example.DeepCopyObject()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(after, obj, !p.ignores()); err != nil {
		strictErr, ok := runtime.AsStrictDecodingError(err)
		if !ok {
			return nil, invalidPatch(shown, err)
		}
		found = append(found, strictErr.Errors()...)
	}
	if err := p.complain(shown, found); err != nil {
		return nil, err
	}
	p.q.Resource.Strategy.Default(obj)
	return p.w.track(p.q, live, obj, p.manager())
}

// example returns an empty object of the (sub)resource's Go type.
func (p *patcher) example() (runtime.Object, error) {
	if p.q.Subresource == types.Scale {
		return scheme.Scheme.New(types.ScaleKind)
	}
	s, ok := p.q.Resource.Strategy.(types.MergeSchema)
	if !ok {
		return nil, fmt.Errorf("%s cannot be patched by a strategic merge patch", p.q.Resource)
	}
	return s.MergeExample(), nil
}

// strategicError returns a 4xx if the patch is to blame for a failed merge.
func strategicError(err error) error {
	for _, bad := range []error{
		mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat,
	} {
		if errors.Is(err, bad) {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	for _, bad := range []error{mergepatch.ErrNoListOfLists, mergepatch.ErrPatchContentNotMatchRetainKeys} {
		if errors.Is(err, bad) {
			return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
	}
	return err
}
