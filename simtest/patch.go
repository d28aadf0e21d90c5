package simtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// Patch patches an object, identified by kind, namespace and name, and updates obj with the server's response. The patch is text ([]byte or string)
// or a value whose JSON it is:
//
//	env.Patch(pod, types.MergePatchType, `{"metadata":{"labels":{"app":null}}}`)
//	env.Patch(deployment, types.StrategicMergePatchType, map[string]any{"spec": map[string]any{"replicas": 3}})
//	env.Patch(pod, types.JSONPatchType, `[{"op":"remove","path":"/metadata/finalizers/0"}]`)
//	env.Patch(pod, types.MergePatchType, `{"status":{"phase":"Running"}}`, "status")
//
// With types.ApplyPatchType, which is YAML, the field manager is "workload" and a conflict fails the test; ServerSideApply has a choice. What is
// repeated and what fails the test is as with Create. An object that does not exist fails it with the server's NotFound.
func (e *Env) Patch(obj Object, as types.PatchType, patch any, subresources ...string) {
	const call = "env.Patch"
	e.alive()
	wr := wire.Write{Method: http.MethodPatch, ContentType: string(as), Subresource: strings.Join(subresources, "/")}
	if as == types.ApplyPatchType {
		wr.Query = applyQuery(metav1.ApplyOptions{FieldManager: workloadClient})
	}
	var err error
	switch p := patch.(type) {
	case []byte:
		wr.Object = p
	case string:
		wr.Object = []byte(p)
	default:
		wr.Object, err = json.Marshal(p)
	}
	e.require(call, err)
	gvk, err := e.w.r.kindOf(obj)
	e.require(call, err)
	wr.Namespace, wr.Name = obj.GetNamespace(), obj.GetName()
	wr.APIVersion, wr.Kind = gvk.ToAPIVersionAndKind()
	e.require(call, e.send(call, []wire.Write{wr}, []Object{obj}))
}

// workloadClient is the name of the helpers' client.
const workloadClient = "workload"

// ServerSideApply applies a configuration as a field manager, which then owns its fields, and creates the object if there is none. The
// configuration is an object, typed or unstructured, that is updated with the server's response; or one of client-go's apply configurations, or
// anything else whose JSON has apiVersion, kind, metadata.name and what is to be applied. A typed object applies all fields that its JSON has, zero
// values without omitempty included. Its managedFields are not sent; its resourceVersion, if set, must be the newest.
//
// The options need a FieldManager. A conflict with another manager fails the test with the server's message, unless Force is set. What is
// repeated and what fails the test is as with Create.
func (e *Env) ServerSideApply(configuration any, o metav1.ApplyOptions, subresources ...string) {
	const call = "env.ServerSideApply"
	e.alive()
	wr, err := e.applyOf(configuration, o)
	e.require(call, err)
	wr.Subresource = strings.Join(subresources, "/")
	obj, _ := configuration.(Object)
	e.require(call, e.send(call, []wire.Write{wr}, []Object{obj}))
}

// applyOf returns the write of a server-side apply.
func (e *Env) applyOf(configuration any, o metav1.ApplyOptions) (wire.Write, error) {
	wr := wire.Write{Method: http.MethodPatch, ContentType: string(types.ApplyPatchType), Query: applyQuery(o)}
	if o.FieldManager == "" {
		return wr, fmt.Errorf("the options have no FieldManager: name the one that is to own the fields")
	}
	data, err := json.Marshal(configuration)
	if err != nil {
		return wr, fmt.Errorf("%T has no JSON: %w", configuration, err)
	}
	var fields map[string]any
	if err := utiljson.Unmarshal(data, &fields); err != nil { // integers stay integers
		return wr, fmt.Errorf("the JSON of %T is no object: %w", configuration, err)
	}
	metadata, _ := fields["metadata"].(map[string]any)
	wr.APIVersion, wr.Kind, wr.Namespace, wr.Name = text(fields["apiVersion"]), text(fields["kind"]), text(metadata["namespace"]), text(metadata["name"])
	if obj, is := configuration.(Object); is {
		gvk, err := e.w.r.kindOf(obj)
		if err != nil {
			return wr, err
		}
		wr.APIVersion, wr.Kind = gvk.ToAPIVersionAndKind()
	}
	switch {
	case wr.APIVersion == "" || wr.Kind == "":
		return wr, fmt.Errorf("the JSON of %T has no apiVersion and kind", configuration)
	case wr.Name == "":
		return wr, fmt.Errorf("the JSON of %T has no metadata.name", configuration)
	}
	fields["apiVersion"], fields["kind"] = wr.APIVersion, wr.Kind
	delete(metadata, "managedFields")
	wr.Object, err = json.Marshal(fields)
	return wr, err
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// applyQuery returns the options of an apply as a URL's query.
func applyQuery(o metav1.ApplyOptions) string {
	q := url.Values{"fieldManager": {o.FieldManager}, "dryRun": o.DryRun}
	if o.Force {
		q.Set("force", strconv.FormatBool(true))
	}
	return q.Encode()
}
