package wellbehaved

import "testing"

// An apply only notes something if it does not say what the object is to be, nor for which one it is.
func TestNotes(t *testing.T) {
	const apply = "application/apply-patch+yaml"
	for name, c := range map[string]struct {
		q    Request
		want bool
	}{
		"an annotation":     {Request{Method: "PATCH", ContentType: apply, Body: `{"kind":"ConfigMap","metadata":{"name":"a","annotations":{"seen":"yes"}}}`}, true},
		"a status":          {Request{Method: "PATCH", ContentType: apply, Body: `{"metadata":{"name":"a"},"status":{"size":1}}`}, true},
		"a spec":            {Request{Method: "PATCH", ContentType: apply, Body: `{"metadata":{"name":"a"},"spec":{"size":1}}`}, false},
		"a uid":             {Request{Method: "PATCH", ContentType: apply, Body: `{"metadata":{"name":"a","uid":"1"}}`}, false},
		"a resourceVersion": {Request{Method: "PATCH", ContentType: apply, Body: `{"metadata":{"name":"a","resourceVersion":"1"}}`}, false},
		"an owner":          {Request{Method: "PATCH", ContentType: apply, Body: `{"metadata":{"name":"a","ownerReferences":[]}}`}, false},
		"a merge patch":     {Request{Method: "PATCH", ContentType: "application/merge-patch+json", Body: `{"metadata":{"annotations":{"seen":"yes"}}}`}, false},
		"no JSON":           {Request{Method: "PATCH", ContentType: apply, Body: "metadata: {name: a}"}, false},
		"a create":          {Request{Method: "POST", ContentType: "application/json", Body: `{"metadata":{"name":"a"}}`}, false},
	} {
		if got := notes(&c.q); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
