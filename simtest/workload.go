package simtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// Object is a Kubernetes object: of a type in client-go's scheme or in Options.Scheme, or of any type with its kind set.
type Object interface {
	runtime.Object
	metav1.Object
}

// Create creates objects through the API and updates them with the server's response. An object that somebody else created fails the
// test with the server's AlreadyExists.
//
// This and the other helpers that write go through the API as the client "workload", one object after the other, each in steps of the run. No
// fault is drawn for them. A write that fails on the server's side is repeated, after 1 s to 30 s of virtual time, until it is in the
// Store; a lost answer is told from a lost request, so nothing is written twice. What the server refuses, and what has failed for 10 minutes
// of virtual time, fails the test with the server's code, reason and message.
func (e *Env) Create(objs ...Object) {
	e.writeAll("env.Create", wire.Write{Method: http.MethodPost}, objs)
}

// Update replaces objects, and updates them with the server's response. One without a resourceVersion is written over whatever is there: a
// conflict with another client is repeated on what that client wrote. With a resourceVersion, a conflict fails the test with the server's error.
func (e *Env) Update(objs ...Object) {
	e.writeAll("env.Update", wire.Write{Method: http.MethodPut}, objs)
}

// UpdateStatus replaces the status of objects, as Update replaces the rest, with the same conflicts.
func (e *Env) UpdateStatus(objs ...Object) {
	e.writeAll("env.UpdateStatus", wire.Write{Method: http.MethodPut, Subresource: "status"}, objs)
}

// Delete deletes objects, identified by kind, namespace and name, without a grace period. As on a real server, an object with
// finalizers stays until they are removed. One that is not there when it is called fails the test with the server's NotFound; if another client is
// faster with the deletion, all is well. It names no propagation policy, so that dependents of a Job are orphaned, and those of most other kinds go (Options.GarbageCollection).
func (e *Env) Delete(objs ...Object) {
	e.writeAll("env.Delete", wire.Write{Method: http.MethodDelete}, objs)
}

// Mutate changes an object that exists: it reads obj from the Store, calls change, which edits obj, and writes it. If another client has
// written in between, it starts over, so change may be called several times. The test fails if there is no such object.
func (e *Env) Mutate(obj Object, change func()) {
	const call = "env.Mutate"
	e.alive()
	for {
		err := e.Get(obj)
		if err == nil {
			change()
			err = e.write(call, wire.Write{Method: http.MethodPut}, []Object{obj})
		}
		if !isRefusal(err, metav1.StatusReasonConflict) {
			e.require(call, err)
			return
		}
	}
}

// Apply creates the objects of a manifest (YAML or JSON, any number of documents), or patches those that exist to match it, with a merge patch:
// what the manifest does not name stays. ServerSideApply applies as a field manager.
func (e *Env) Apply(manifest string) {
	const call = "env.Apply"
	e.alive()
	objs, err := decodeManifest(manifest)
	e.require(call, err)
	e.writeAll(call, wire.Write{OrCreate: true}, objs)
}

// writeAll has objects written, and fails the test at the first that cannot be.
func (e *Env) writeAll(call string, as wire.Write, objs []Object) {
	e.alive()
	e.require(call, e.write(call, as, objs))
}

// require fails the test if err is an error.
func (e *Env) require(call string, err error) {
	if err != nil {
		e.fatalf("%s: %v", call, err)
	}
}

// write has objects written.
func (e *Env) write(call string, as wire.Write, objs []Object) error {
	writes := make([]wire.Write, len(objs))
	for n, obj := range objs {
		gvk, err := e.w.r.kindOf(obj)
		if err != nil {
			return err
		}
		wr := as
		wr.Namespace, wr.Name = obj.GetNamespace(), obj.GetName()
		wr.APIVersion, wr.Kind = gvk.ToAPIVersionAndKind()
		if wr.Method != http.MethodDelete {
			if wr.Object, err = json.Marshal(obj); err != nil {
				return err
			}
		}
		writes[n] = wr
	}
	return e.send(call, writes, objs)
}

// send sends writes to the engine, and fills the objects that are not nil with what it answers.
func (e *Env) send(call string, writes []wire.Write, objs []Object) error {
	if len(writes) == 0 {
		return nil
	}
	words := make([]string, len(writes))
	for n := range writes {
		writes[n].Call = call
		words[n] = writes[n].Word()
	}
	m := e.w.body.ask(call, wire.AskWrite, 0, words...)
	for _, obj := range objs {
		err, reason, data := m.Error(), m.Text(), m.Bytes()
		switch {
		case m.Err() != nil:
			return m.Err()
		case err != nil:
			return &refusal{err, metav1.StatusReason(reason)}
		case len(data) == 0 || obj == nil:
			continue
		}
		if err := replace(obj, data); err != nil {
			return err
		}
	}
	return nil
}

// refusal is a write that the server, or the engine, refused.
type refusal struct {
	error
	reason metav1.StatusReason // the server's; "" for others
}

// isRefusal reports whether err is a refusal for that reason.
func isRefusal(err error, reason metav1.StatusReason) bool {
	var r *refusal
	return errors.As(err, &r) && r.reason == reason
}

// replace decodes data into obj and leaves nothing of obj's former content.
func replace(obj runtime.Object, data []byte) error {
	if u, ok := obj.(interface{ UnmarshalJSON([]byte) error }); ok {
		return u.UnmarshalJSON(data)
	}
	v := reflect.ValueOf(obj)
	fresh := reflect.New(v.Type().Elem())
	if err := json.Unmarshal(data, fresh.Interface()); err != nil {
		return err
	}
	v.Elem().Set(fresh.Elem())
	return nil
}

// kindOf returns the kind that an object states, or under which a scheme knows its Go type.
func (r *runner) kindOf(obj runtime.Object) (schema.GroupVersionKind, error) {
	if v := reflect.ValueOf(obj); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return schema.GroupVersionKind{}, errors.New("it was given nil in place of an object")
	}
	if gvk := obj.GetObjectKind().GroupVersionKind(); !gvk.Empty() {
		return gvk, nil
	}
	for _, s := range r.schemes {
		if kinds, _, err := s.ObjectKinds(obj); err == nil {
			return kinds[0], nil
		}
	}
	return schema.GroupVersionKind{}, fmt.Errorf("%T states no kind and is in no scheme: set its TypeMeta, or set Options.Scheme to a scheme that knows it", obj)
}

// decodeManifest returns the objects of a manifest.
func decodeManifest(manifest string) ([]Object, error) {
	var objs []Object
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for n := 1; ; n++ {
		var raw runtime.RawExtension
		switch err := decoder.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return objs, nil
		case err != nil:
			return nil, fmt.Errorf("document %d is neither YAML nor JSON: %w", n, err)
		case len(raw.Raw) == 0 || bytes.Equal(raw.Raw, []byte("null")):
			continue
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(raw.Raw); err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if !u.IsList() {
			objs = append(objs, u)
			continue
		}
		if err := u.EachListItem(func(o runtime.Object) error {
			objs = append(objs, o.(*unstructured.Unstructured))
			return nil
		}); err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
	}
}
