package crd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A definition is slow by its size or by its rules, wherever they are, and so is every write to a slow one.
func TestSlow(t *testing.T) {
	rules := func(n int) string { return strings.TrimSuffix(strings.Repeat(`{"rule":"true"},`, n), ",") }
	for _, tt := range []struct {
		name, schema string
		want         bool
	}{
		{"small", `{"type":"object","properties":{"a":{"type":"string"}}}`, false},
		{"ten rules", `{"type":"object","x-kubernetes-validations":[` + rules(10) + `]}`, false},
		{"rules", `{"type":"object","x-kubernetes-validations":[` + rules(11) + `]}`, true},
		{"rules below", `{"properties":{"a":{"items":{"additionalProperties":{"allOf":[{"x-kubernetes-validations":[` + rules(11) + `]}]}}}}}`, true},
		{"long", `{"description":"` + strings.Repeat("x", quickSize) + `"}`, true},
	} {
		text := fmt.Sprintf(`{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":%s}}]}}`, tt.schema)
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := json.Unmarshal([]byte(text), d); err != nil {
			t.Fatal(err)
		}
		r := Definitions()
		if got := [...]bool{Slow(d), r.Slow([]byte(text), nil), r.Slow([]byte("{}"), d)}; got != [...]bool{tt.want, tt.want, tt.want} {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if slowWrite([]byte("{}"), nil) || slowWrite([]byte("{}"), runtime.Object(nil)) {
		t.Error("a write without an object is slow")
	}
}
