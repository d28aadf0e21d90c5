package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Limits of JSON patches: the number of operations, and the total size of copies, in bytes.
const (
	maxOperations  = 10_000
	maxCopiedBytes = 3 << 20
)

// The library's limit is a process-wide variable. Every apiserver sets it to the same value.
func init() { jsonpatch.AccumulatedCopySizeLimit = maxCopiedBytes }

// PatchTypes returns the content types of patches that the (sub)resource accepts, in the order in which a 415 lists them.
func PatchTypes(r *types.Resource, subresource string) []string {
	all := []string{string(apitypes.JSONPatchType), string(apitypes.MergePatchType)}
	if _, ok := r.Strategy.(types.MergeSchema); ok {
		all = append(all, string(apitypes.StrategicMergePatchType))
	}
	return append(all, string(apitypes.ApplyYAMLPatchType))
}

// PatchType parses a Content-Type header: 415 if the (sub)resource does not accept such patches.
func PatchType(r *types.Resource, subresource, contentType string) (apitypes.PatchType, error) {
	if i := strings.Index(contentType, ";"); i > 0 {
		contentType = contentType[:i]
	}
	accepted := PatchTypes(r, subresource)
	if !slices.Contains(accepted, contentType) {
		return "", types.NewUnsupportedMediaType(accepted)
	}
	return apitypes.PatchType(contentType), nil
}

// Patch returns the object of a PATCH. live is nil if it does not exist; an apply then creates it.
func (w *Writer) Patch(q Request, live runtime.Object, contentType string, data []byte, o *metav1.PatchOptions) (Result, error) {
	kind, err := PatchType(q.Resource, q.Subresource, contentType)
	if err != nil {
		return Result{}, err
	}
	if q.Name == "" {
		return Result{}, errNoName
	}
	if err := invalidOptions("PatchOptions", metav1validation.ValidatePatchOptions(o, kind)); err != nil {
		return Result{}, err
	}
	if err := wellFormed(data, kind); err != nil {
		return Result{}, err
	}
	q.DryRun = len(o.DryRun) > 0
	p := &patcher{w: w, q: &q, kind: kind, data: data, options: o}
	if live == nil {
		return p.create()
	}
	if s := q.storage(); s != nil {
		return q.updateIn(s, live, nil, p.changeAndDedup, &p.warnings)
	}
	shown, err := q.Resource.Strategy.Convert(live)
	if err != nil {
		return Result{}, err
	}
	var obj runtime.Object
	if q.Subresource == types.Scale {
		obj, err = w.throughScale(&q, shown, p.change)
	} else {
		obj, err = p.change(shown)
	}
	if err != nil {
		return Result{Warnings: p.warnings}, err
	}
	p.dedup(obj)
	return q.updated(obj, shown, live, p.warnings)
}

// dedup drops, in place, duplicate owner references.
func (p *patcher) dedup(obj runtime.Object) {
	if text := types.DedupOwners(obj); text != "" {
		p.warnings = append(p.warnings, strings.Replace(text, "duplicate entries;", "duplicate entries after mutating admission happens;", 1))
	}
}

func (p *patcher) changeAndDedup(live runtime.Object) (runtime.Object, error) {
	obj, err := p.change(live)
	if err == nil {
		p.dedup(obj)
	}
	return obj, err
}

// wellFormed returns an error if a patch cannot be parsed at all.
func wellFormed(data []byte, kind apitypes.PatchType) error {
	if kind == apitypes.ApplyYAMLPatchType {
		if _, err := yaml.ToJSON(data); err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
		}
		return nil
	}
	if !json.Valid(data) {
		return apierrors.NewBadRequest("invalid JSON patch")
	}
	return nil
}

// kindReader reads the apiVersion and kind of a JSON object.
var kindReader = serializer.DefaultMetaFactory

// patcher applies one patch.
type patcher struct {
	w        *Writer
	q        *Request
	kind     apitypes.PatchType
	data     []byte
	options  *metav1.PatchOptions
	warnings []string
}

func (p *patcher) ignores() bool { return p.options.FieldValidation == metav1.FieldValidationIgnore }
func (p *patcher) strict() bool  { return p.options.FieldValidation == metav1.FieldValidationStrict }

func (p *patcher) manager() string { return ManagerName(p.options.FieldManager, p.q.UserAgent) }

// create handles a patch of an object that does not exist.
func (p *patcher) create() (Result, error) {
	q := p.q
	if p.kind != apitypes.ApplyYAMLPatchType || q.Subresource != "" {
		return Result{}, q.notFound()
	}
	if err := types.NameError(q.Name); err != nil {
		return Result{}, err
	}
	obj, err := p.applied(nil)
	if err != nil {
		return Result{Warnings: p.warnings}, err
	}
	if uid := uidOf(obj); uid != "" {
		return Result{Warnings: p.warnings}, apierrors.NewConflict(q.Resource.GroupResource(), q.Name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	if err := p.checkTarget(obj); err != nil {
		return Result{Warnings: p.warnings}, err
	}
	// An apply that creates may carry a resourceVersion, but it must be a number (S2).
	if _, err := revision(obj); err != nil {
		return Result{Warnings: p.warnings}, err
	}
	setRevision(obj, "")
	if err := q.admit(obj); err != nil {
		return Result{Warnings: p.warnings}, err
	}
	return q.created(obj, p.warnings)
}

// change patches a live object, or its scale.
func (p *patcher) change(live runtime.Object) (runtime.Object, error) {
	var obj runtime.Object
	var err error
	switch p.kind {
	case apitypes.ApplyYAMLPatchType:
		obj, err = p.applied(live)
	case apitypes.StrategicMergePatchType:
		obj, err = p.strategic(live)
	default:
		obj, err = p.document(live)
	}
	if err != nil {
		return nil, err
	}
	return obj, p.checkTarget(obj)
}

// checkTarget rejects a patch that changes the object's identity.
func (p *patcher) checkTarget(obj runtime.Object) error {
	if err := p.q.Resource.MatchNamespace(obj, p.q.Namespace); err != nil {
		return err
	}
	return p.q.Resource.CheckName(obj, p.q.Namespace, p.q.Name)
}

// document patches the object's JSON form: JSON patches and merge patches.
func (p *patcher) document(live runtime.Object) (runtime.Object, error) {
	before, err := p.encode(live)
	if err != nil {
		return nil, err
	}
	patched, found, err := p.patchJSON(before)
	if err != nil {
		return nil, err
	}
	obj, err := p.decode(patched)
	if err != nil {
		strictErr, ok := runtime.AsStrictDecodingError(err)
		if !ok || obj == nil {
			return nil, invalidPatch(string(patched), err)
		}
		found = append(found, strictErr.Errors()...)
	}
	if obj.GetObjectKind().GroupVersionKind().Version == "" && p.q.Resource.Custom && p.q.Subresource != types.Scale {
		return nil, apierrors.NewInternalError(runtime.NewMissingVersionErr("object has no apiVersion field"))
	}
	if err := p.complain(string(patched), found); err != nil {
		return nil, err
	}
	return p.w.track(p.q, live, obj, p.manager())
}

// complain turns strict decoding errors into warnings, or under Strict into a 422 (S30).
func (p *patcher) complain(shown string, found []error) error {
	switch {
	case len(found) == 0 || p.ignores():
		return nil
	case p.strict():
		return invalidPatch(shown, runtime.NewStrictDecodingError(found))
	}
	p.warnings = append(p.warnings, types.StrictWarnings(found)...)
	return nil
}

// invalidPatch returns the 422 for a patch whose result is not an object.
func invalidPatch(shown string, err error) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), shown, err.Error())})
}

// encode returns the object as JSON, kind included.
func (p *patcher) encode(obj runtime.Object) ([]byte, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return types.AppendJSON(nil, u.Object)
	}
	c := types.ShallowCopy(obj)
	c.GetObjectKind().SetGroupVersionKind(p.q.Resource.KindOf(p.q.Subresource))
	return json.Marshal(c)
}

// decode decodes a patched object.
func (p *patcher) decode(data []byte) (runtime.Object, error) {
	strict := !p.ignores()
	if d, ok := p.q.Resource.Strategy.(types.KindDecoder); ok {
		obj, _, err := d.DecodeFor(p.q.Subresource, data, types.JSON, strict)
		return obj, err
	}
	if p.q.Subresource != types.Scale {
		obj, _, err := p.q.Resource.Strategy.Decode(data, types.JSON, strict)
		return obj, err
	}
	obj, err := scheme.Scheme.New(types.ScaleKind)
	if err != nil {
		return nil, err
	}
	if kind, err := kindReader.Interpret(data); err == nil && kind.Group+kind.Version != "" && kind.Kind != "" && *kind != types.ScaleKind {
		return nil, runtime.NewNotRegisteredErrForKind(scheme.Scheme.Name(), *kind)
	}
	if !strict {
		return obj, kjson.UnmarshalCaseSensitivePreserveInts(data, obj)
	}
	found, err := kjson.UnmarshalStrict(data, obj)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return obj, runtime.NewStrictDecodingError(found)
	}
	return obj, nil
}

// jsonPatchOp is an operation of a JSON patch, with the fields that strict decoding knows.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// patchJSON applies a JSON patch or merge patch, and returns the patch's strict decoding errors.
func (p *patcher) patchJSON(before []byte) ([]byte, []error, error) {
	if p.kind == apitypes.MergePatchType {
		return p.mergeJSON(before)
	}
	var found []error
	if !p.ignores() {
		var err error
		if found, err = kjson.UnmarshalStrict(p.data, &[]jsonPatchOp{}); err != nil {
			return nil, nil, undecodable(err)
		}
		for i, e := range found {
			found[i] = fmt.Errorf("json patch %v", e)
		}
	}
	operations, err := jsonpatch.DecodePatch(p.data)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if len(operations) > maxOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(operations)))
	}
	after, err := apply(operations, before)
	if errors.Is(err, types.ErrNoAnswer) {
		return nil, nil, err
	}
	if err != nil {
		// The generic answer leaves the cause out (S32).
		return nil, nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return after, found, nil
}

// apply applies a JSON patch. The library panics on some operations without a value, in a real server too.
func apply(operations jsonpatch.Patch, before []byte) (after []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: the JSON patch makes its library panic: %v", types.ErrNoAnswer, p)
		}
	}()
	return operations.Apply(before)
}

func (p *patcher) mergeJSON(before []byte) ([]byte, []error, error) {
	var found []error
	if !p.ignores() {
		var err error
		if found, err = kjson.UnmarshalStrict(p.data, &map[string]any{}); err != nil {
			return nil, nil, undecodable(err)
		}
	}
	after, err := jsonpatch.MergePatch(before, p.data)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return after, found, err
}

// undecodable returns the 400 for a malformed patch. The real server shows its own Go type, so ours is replaced by it.
func undecodable(err error) error {
	text := strings.ReplaceAll(err.Error(), "patch.jsonPatchOp", "handlers.jsonPatchOp")
	return apierrors.NewBadRequest("error decoding patch: " + text)
}
