package scenarios

import (
	"maps"
	"regexp"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
)

var stable = regexp.MustCompile(`^v[0-9]+$`)

// Every built-in resource of client-go has its Go type here, in the version that client-go prefers and in every stable one.
func TestBuiltinSchemeHasEveryResource(t *testing.T) {
	if got, want := resourcesOf(builtinScheme), resourcesOf(scheme.Scheme); !maps.Equal(got, want) {
		t.Errorf("the resources are\n%v\nclient-go's are\n%v", got, want)
	}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if stable.MatchString(gvk.Version) && !builtinScheme.Recognizes(gvk) {
			t.Errorf("%v is missing", gvk)
		}
		if !builtinScheme.IsGroupRegistered(gvk.Group) {
			t.Errorf("no version of %s is registered", gvk.Group)
		}
	}
}

// A version without a Go type is treated as a custom resource, but keeps the scope of its built-in group.
func TestVersionsWithoutType(t *testing.T) {
	for _, tt := range []struct {
		name, kind string
		namespaced bool
	}{
		{"flowschemas.flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema", false},
		{"deployments.apps/v1beta2", "Deployment", true},
		{"nodes.example.com/v1", "Node", true},
	} {
		r, err := resolveResource(tt.name, tt.kind, "")
		if err != nil || r.New != nil || r.Namespaced != tt.namespaced {
			t.Errorf("%s: %+v, %v", tt.name, r, err)
		}
	}
}
