package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/scenarios/script"
)

// writer declares a client that writes over its own connection: its requests and their answers are separate choices that faults
// can hit. Like a real client it retries a write whose answer is lost or says "try again".
//
//	writer w1
//	create pods default/a by=w1
var writerSpec = spec{
	name:  "writer",
	usage: "writer NAME",
	doc:   "declares a client whose writes are requests that can fail; a write without by= is committed at once",
	parse: func(r *script.ArgReader) Command { return &writerCmd{name: r.Next("name").Value} },
}

type writerCmd struct{ name string }

func (c *writerCmd) declare(d *declarations, s *script.Command) error {
	d.started = true
	return d.add(s, c.name, "writer")
}

func (c *writerCmd) run(w *World) error { return w.addWriter(c.name) }

const writeUsage = " RESOURCE NAMESPACE/NAME... [rv=N] [by=WRITER] [{object}]"

// create creates objects. The payload, if any, is merged into the empty object; rv= sets the revision of the first write, which
// must be in the future.
//
//	create pods default/a default/b
//	create pods default/c {"metadata":{"labels":{"app":"x"}}}
var createSpec = writeSpec("create", "creates objects")

// update replaces objects by the payload; without one, it increments an annotation to make a new version.
//
//	update pods default/a {"metadata":{"labels":{"app":"y"}}}
var updateSpec = writeSpec("update", "replaces objects by the payload, or increments an annotation of them")

// delete deletes objects. A payload is the last state that watchers see.
//
//	delete pods default/a
var deleteSpec = writeSpec("delete", "deletes objects")

func writeSpec(name, doc string) spec {
	return spec{name: name, usage: name + writeUsage, doc: doc, parse: func(r *script.ArgReader) Command {
		c := &writeCmd{op: name, resource: r.Next("resource").Value}
		for _, a := range r.Rest("keys", 1) {
			ns, n, err := splitKey(a.Value)
			if err != nil {
				r.Fail(script.Errorf(a.Pos, "write it like default/a, or a for a cluster-scoped resource", "%s: %v", name, err))
			}
			c.keys, c.at = append(c.keys, objectKey{ns, n}), append(c.at, a.Pos)
		}
		c.rv = r.Int64("rv", 0, 1, 1<<60)
		c.by = r.String("by", "")
		c.payload = r.Payload()
		return c
	}}
}

type objectKey struct{ namespace, name string }

func (k objectKey) String() string {
	if k.namespace == "" {
		return k.name
	}
	return k.namespace + "/" + k.name
}

func splitKey(s string) (namespace, name string, err error) {
	parts := strings.Split(s, "/")
	switch {
	case len(parts) == 1 && parts[0] != "":
		return "", parts[0], nil
	case len(parts) == 2 && parts[0] != "" && parts[1] != "":
		return parts[0], parts[1], nil
	}
	return "", "", fmt.Errorf("%q is not a key", s)
}

// anyName are the groups and resources whose names an apiserver only asks to be a segment of a path: "system:node" is a ClusterRole, "2001:db8::1" an
// IPAddress.
var anyName = []string{"rbac.authorization.k8s.io", "ipaddresses.networking.k8s.io"}

// checkNames returns an error if no object of the resource can have the key.
func checkNames(res *store.Resource, k objectKey) error {
	if wrong := validation.IsDNS1123Label(k.namespace); k.namespace != "" && len(wrong) > 0 {
		return fmt.Errorf("%q is not the name of a namespace: %s", k.namespace, wrong[0])
	}
	is := validation.IsDNS1123Subdomain
	switch {
	case slices.Contains(anyName, res.Group), slices.Contains(anyName, res.GroupResource().String()):
		is = path.IsValidPathSegmentName
	case res.Kind == "Namespace" && res.Group == "":
		is = validation.IsDNS1123Label
	}
	if wrong := is(k.name); len(wrong) > 0 {
		return fmt.Errorf("%q is not the name of one of the %s: %s", k.name, res.Plural, wrong[0])
	}
	return nil
}

type writeCmd struct {
	op       string
	resource string
	keys     []objectKey
	at       []script.Pos // of the keys
	rv       int64
	by       string
	payload  json.RawMessage
	// object is the payload as an object of the resource, decoded once for all runs. Commands with the same payload share it, whatever their keys.
	object runtime.Object
}

func (c *writeCmd) declare(d *declarations, s *script.Command) error {
	if err := d.need(s, c.resource, "resource"); err != nil {
		return err
	}
	if c.by != "" {
		if err := d.need(s, c.by, "writer"); err != nil {
			return err
		}
		if c.rv != 0 {
			return script.Errorf(s.Pos, "omit one of them", "%s: rv= and by= exclude each other: a client cannot choose the revision", c.op)
		}
	}
	if c.payload != nil && len(c.keys) > 1 {
		return script.Errorf(s.Pos, "write one command per object", "%s: a payload is for one object, not %d", c.op, len(c.keys))
	}
	res, ok := d.resources[c.resource]
	if !ok {
		return nil
	}
	for n, k := range c.keys {
		if err := d.checkNames(&res, k); err != nil {
			return script.Errorf(c.at[n], "an apiserver would refuse it", "%s: %v", c.op, err)
		}
		if res.Namespaced != (k.namespace != "") {
			if res.Namespaced {
				return script.Errorf(s.Pos, "write it as NAMESPACE/"+k.name, "%s: %s are namespaced, %q is not", c.op, c.resource, k)
			}
			return script.Errorf(s.Pos, "write "+k.name, "%s: %s are cluster scoped, %q has a namespace", c.op, c.resource, k)
		}
	}
	if c.object = d.objects[payloadOf{c.resource, string(c.payload)}]; c.object != nil {
		return nil
	}
	if c.payload != nil && !d.loose && !d.anyFields[c.resource] {
		if err := d.checkObject(s, c.resource, &res); err != nil {
			return err
		}
	}
	obj, err := decodeObject(&res, c.payload)
	if err != nil {
		return wrongType(s, res.Kind, err)
	}
	anyKey, err := nameObject(obj, c.keys[0])
	if err != nil {
		return wrongType(s, res.Kind, err)
	}
	if c.object = obj; anyKey {
		d.objects[payloadOf{c.resource, string(c.payload)}] = obj
	}
	return nil
}

// payloadOf is a payload of objects of a resource. Scenarios have few different ones, and many commands.
type payloadOf struct{ resource, payload string }

// keyOf is a key of a resource.
type keyOf struct {
	resource string
	key      objectKey
}

// checkNames is checkNames, asked once for each key.
func (d *declarations) checkNames(res *store.Resource, k objectKey) error {
	at := keyOf{res.Plural, k}
	if d.loose || d.valid[at] {
		return nil
	}
	err := checkNames(res, k)
	d.valid[at] = err == nil
	return err
}

// decodeObject decodes a payload into an object of a resource; a nil payload gives an empty object.
func decodeObject(res *store.Resource, payload json.RawMessage) (runtime.Object, error) {
	var obj runtime.Object
	if res.New != nil {
		obj = res.New()
		if payload != nil {
			if err := json.Unmarshal(payload, obj); err != nil {
				return nil, err
			}
		}
	} else {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		if payload != nil {
			// UnmarshalJSON decodes integers as int64, as the API machinery does; it requires kind and apiVersion.
			raw := map[string]json.RawMessage{}
			if err := json.Unmarshal(payload, &raw); err != nil {
				return nil, err
			}
			setDefault(raw, "kind", res.Kind)
			setDefault(raw, "apiVersion", res.GroupVersionKind().GroupVersion().String())
			b, err := json.Marshal(raw)
			if err != nil {
				return nil, err
			}
			if err := u.UnmarshalJSON(b); err != nil {
				return nil, err
			}
		}
		obj = u
	}
	gvk := res.GroupVersionKind()
	if have := obj.GetObjectKind().GroupVersionKind(); have.Kind != "" && have != gvk {
		return nil, fmt.Errorf("its kind is %s of %s", have.Kind, have.GroupVersion())
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, nil
}

// nameObject gives an object its name and namespace, which may be there, but no other. anyKey reports that neither was.
func nameObject(obj runtime.Object, key objectKey) (anyKey bool, err error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return false, err
	}
	anyKey = m.GetName() == "" && m.GetNamespace() == ""
	for _, f := range []struct{ what, have, want string }{{"name", m.GetName(), key.name}, {"namespace", m.GetNamespace(), key.namespace}} {
		if f.have != "" && f.have != f.want {
			return false, fmt.Errorf("its %s is %q, but the command has %q", f.what, f.have, f.want)
		}
	}
	m.SetName(key.name)
	m.SetNamespace(key.namespace)
	return anyKey, nil
}

func setDefault(raw map[string]json.RawMessage, key, value string) {
	if _, ok := raw[key]; !ok {
		raw[key], _ = json.Marshal(value)
	}
}

func (c *writeCmd) run(w *World) error {
	id, ok := w.resources[c.resource]
	if !ok {
		return fmt.Errorf("%s: there is no resource %s", c.op, c.resource)
	}
	for i, k := range c.keys {
		if i == 0 && c.rv != 0 {
			if err := w.cluster.Store().SkipTo(c.rv); err != nil {
				return fmt.Errorf("%s: rv=%d: %w", c.op, c.rv, err)
			}
		}
		obj, err := c.objectFor(w, id, k)
		if err != nil {
			return err
		}
		if c.by != "" {
			w.scripted.byClient(id, k)
			w.writers[c.by].enqueue(write{op: c.op, resource: id, key: k, object: obj})
			continue
		}
		switch err := commit(w, c.op, id, k, obj); {
		case w.judges(c.op, id, k, err):
			return nil
		case err != nil:
			return fmt.Errorf("%s %s %s: %w", c.op, c.resource, k, err)
		}
	}
	return nil
}

// commit writes to the store directly, without a request that could fail.
func commit(w *World, op string, id store.ResourceID, k objectKey, obj runtime.Object) error {
	var err error
	switch op {
	case "create":
		_, err = w.cluster.Create(id, obj)
	case "update":
		_, err = w.cluster.Update(id, obj)
	default:
		_, err = w.cluster.DeleteAs(id, k.namespace, k.name, obj)
	}
	return err
}

// objectFor returns the object to write: a fresh copy, since the store takes ownership.
func (c *writeCmd) objectFor(w *World, id store.ResourceID, k objectKey) (runtime.Object, error) {
	if c.payload == nil {
		switch c.op {
		case "delete":
			return nil, nil
		case "update":
			return w.touched(id, k), nil
		}
	}
	if c.object == nil {
		return nil, fmt.Errorf("%s: resource %s is not declared in this scenario", c.op, c.resource)
	}
	obj := c.object.DeepCopyObject()
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	m.SetNamespace(k.namespace)
	m.SetName(k.name)
	m.SetResourceVersion("") // the Store sets it
	return obj, nil
}

// touchAnnotation is the annotation that an update without a payload increments.
const touchAnnotation = "informersim.dev/update"

// touched returns the current object, or an empty one if there is none, with its touch annotation incremented.
func (w *World) touched(id store.ResourceID, k objectKey) runtime.Object {
	var obj runtime.Object
	if cur, rev := w.cluster.Store().Get(id, k.namespace, k.name); rev != 0 {
		obj = cur.DeepCopyObject()
	} else {
		obj, _ = decodeObject(w.cluster.Store().Resource(id), nil) // cannot fail without a payload
		_, _ = nameObject(obj, k)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return obj
	}
	a := m.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	n, _ := strconv.Atoi(a[touchAnnotation])
	a[touchAnnotation] = strconv.Itoa(n + 1)
	m.SetAnnotations(a)
	m.SetResourceVersion("") // no precondition
	return obj
}
