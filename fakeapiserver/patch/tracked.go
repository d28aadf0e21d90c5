package patch

import (
	"bytes"
	"crypto/sha256"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// The managedFields after a write depend on which fields exist, which of them differ, list members and keys, and the manager, but
// not on values. Clients make similar writes over and over: a controller its status, a deployment its pods. So the library's
// results are cached under everything that they depend on.

const maxTracked = 512 // results per manager; all are evicted when there are more

// trackCache caches managedFields. Entries are shared with unstructured objects, and immutable.
type trackCache struct {
	outcomes map[trackKey]outcome
	scratch  []byte
	typed    typedChange
}

// trackKey is the hash of everything that a result depends on.
type trackKey [sha256.Size]byte

// outcome has the managedFields of an unstructured or of another object.
type outcome struct {
	raw   []any
	typed []metav1.ManagedFieldsEntry
}

// update is the library's Update with a cache. Both objects have ranks for times; obj may be changed.
func (m *fieldManager) update(live, obj runtime.Object, manager string) (runtime.Object, error) {
	if !m.atHub(live) || !m.atHub(obj) {
		return m.lib.Update(live, obj, manager)
	}
	key, ok := m.known.key(live, obj, manager)
	if !ok {
		return m.lib.Update(live, obj, manager)
	}
	if known, found := m.known.outcomes[key]; found {
		known.applyTo(obj)
		return obj, nil
	}
	out, err := m.lib.Update(live, obj, manager)
	if err == nil {
		m.known.put(key, outcomeOf(out))
	}
	return out, err
}

// atHub reports whether all of an object's fields were set in one version: for another one, the library converts the object, and what comes of
// that depends on values.
func (m *fieldManager) atHub(obj runtime.Object) bool {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		for _, e := range rawEntries(u) {
			if e, ok := e.(map[string]any); !ok || e["apiVersion"] != m.hub {
				return false
			}
		}
		return true
	}
	for _, e := range managedFieldsOf(obj) {
		if e.APIVersion != m.hub {
			return false
		}
	}
	return true
}

func (t *trackCache) put(key trackKey, o outcome) {
	if t.outcomes == nil || len(t.outcomes) >= maxTracked {
		t.outcomes = map[trackKey]outcome{}
	}
	t.outcomes[key] = o
}

func outcomeOf(obj runtime.Object) outcome {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return outcome{raw: rawEntries(u)}
	}
	return outcome{typed: copyOf(managedFieldsOf(obj))}
}

// applyTo sets the object's managedFields, or removes them if there are no entries.
func (o outcome) applyTo(obj runtime.Object) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		setManagedFields(obj, copyOf(o.typed))
		return
	}
	m := u.Object["metadata"].(map[string]any) // objects with a key have metadata
	if o.raw == nil {
		delete(m, "managedFields")
		return
	}
	m["managedFields"] = o.raw
}

func copyOf(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	c := slices.Clone(entries)
	for i := range c {
		entries[i].DeepCopyInto(&c[i])
	}
	return c
}

// key returns the hash of everything that the result depends on; ok is false if it is not to be cached.
func (t *trackCache) key(live, obj runtime.Object, manager string) (key trackKey, ok bool) {
	b, ok := t.describe(t.scratch[:0], live, obj, manager)
	if !ok {
		return key, false
	}
	t.scratch = b
	return sha256.Sum256(b), true
}

func (t *trackCache) describe(b []byte, live, obj runtime.Object, manager string) ([]byte, bool) {
	before, after := live.GetObjectKind().GroupVersionKind(), obj.GetObjectKind().GroupVersionKind()
	b, err := types.AppendJSON(b, []any{manager, before.Group, before.Version, before.Kind, after.Group, after.Version, after.Kind})
	if err != nil {
		return nil, false
	}
	was, isU := live.(*unstructured.Unstructured)
	is, isAlso := obj.(*unstructured.Unstructured)
	if !isU && !isAlso {
		return t.typed.describe(b, live, obj)
	}
	if !isU || !isAlso {
		return nil, false
	}
	if _, has := is.Object["metadata"].(map[string]any); !has {
		return nil, false
	}
	b, err = appendChange(b, was.Object, is.Object)
	return b, err == nil
}

// appendChange describes the values of a field before and after, and how they differ.
func appendChange(b []byte, before, after any) ([]byte, error) {
	switch x := before.(type) {
	case map[string]any:
		if y, ok := after.(map[string]any); ok && x != nil && y != nil {
			return appendChanges(b, x, y)
		}
	case []any:
		if y, ok := after.([]any); ok {
			return appendLists(b, x, y)
		}
	case string:
		if y, ok := after.(string); ok {
			return appendLeaf(b, 's', x == y, x == "", y == ""), nil
		}
	case int64:
		if y, ok := after.(int64); ok {
			return appendLeaf(b, 'i', x == y, false, false), nil
		}
	case bool:
		if y, ok := after.(bool); ok {
			return appendLeaf(b, 'b', x == y, false, false), nil
		}
	}
	// Of different or rare types: encoded in full.
	return appendBoth(b, before, after)
}

// appendLeaf describes two values of one type. For some strings the library checks whether they are empty.
func appendLeaf(b []byte, kind byte, same, emptyBefore, emptyAfter bool) []byte {
	mark := byte('0')
	for i, is := range []bool{same, emptyBefore, emptyAfter} {
		if is {
			mark += 1 << i
		}
	}
	return append(b, kind, mark)
}

func appendBoth(b []byte, before, after any) ([]byte, error) {
	b, err := types.AppendJSON(append(b, 'v'), before)
	if err != nil {
		return nil, err
	}
	return types.AppendJSON(append(b, '>'), after)
}

// appendLists describes two lists in full, for members and keys are paths.
func appendLists(b []byte, before, after []any) ([]byte, error) {
	start := len(b)
	b, err := types.AppendJSON(b, before)
	if err != nil {
		return nil, err
	}
	end := len(b)
	if b, err = types.AppendJSON(b, after); err != nil {
		return nil, err
	}
	if bytes.Equal(b[start:end], b[end:]) {
		b = append(b[:end], '=')
	}
	return b, nil
}

func appendChanges(b []byte, before, after map[string]any) ([]byte, error) {
	b = append(b, '{')
	var err error
	for _, k := range fieldsOf(before, after) {
		was, had := before[k]
		is, has := after[k]
		if b, err = types.AppendJSON(b, k); err != nil {
			return nil, err
		}
		switch {
		case had && has:
			b, err = appendChange(append(b, ':'), was, is)
		case had:
			b, err = appendShape(append(b, '-'), was)
		default:
			b, err = appendShape(append(b, '+'), is)
		}
		if err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// fieldsOf returns the sorted keys of two maps.
func fieldsOf(a, b map[string]any) []string {
	keys := make([]string, 0, len(a)+4)
	for k := range a { // order: sorted below
		keys = append(keys, k)
	}
	for k := range b { // order: sorted below
		if _, both := a[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// appendShape describes a value that was added or removed.
func appendShape(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case map[string]any:
		if v != nil {
			return appendChanges(b, nil, v)
		}
	case string:
		return appendLeaf(b, 's', false, v == "", false), nil
	case int64:
		return append(b, 'i'), nil
	case bool:
		return append(b, 'b'), nil
	}
	return types.AppendJSON(append(b, 'v'), v)
}
