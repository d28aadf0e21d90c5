package types

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// BuiltinOptions select built-in resources. The zero value selects those that a v1.37 apiserver serves with default flags.
type BuiltinOptions struct {
	// AllVersions includes alpha, beta and removed versions (apps/v1beta1, extensions/v1beta1, …).
	AllVersions bool
}

// Builtin returns the resources of client-go's scheme, in the order of a real server's discovery. Each call builds them anew; what
// they share is immutable.
func Builtin(o BuiltinOptions) []*Resource {
	var all []*Resource
	for line := range strings.Lines(builtinTable) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		versions := strings.Split(words[3], ",")
		for _, v := range versions {
			if o.AllVersions || !prerelease(v) {
				r := builtinResource(words, v)
				r.StorageVersion = versions[0]
				all = append(all, r)
			}
		}
	}
	return all
}

func prerelease(v string) bool { return strings.Contains(v, "alpha") || strings.Contains(v, "beta") }

// The verbs of discovery, in the order in which a real server lists them for built-in resources.
var (
	allVerbs         = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	subresourceVerbs = []string{"get", "patch", "update"}
)

// builtinResource builds a resource from a line of the table.
func builtinResource(words []string, v string) *Resource {
	gv := schema.GroupVersion{Group: strings.TrimPrefix(words[0], "-"), Version: v}
	kind := words[2]
	s := &builtin{gvk: gv.WithKind(kind)}
	r := &Resource{
		Group: gv.Group, Version: v, Kind: kind, ListKind: kind + "List",
		Plural: words[1], Singular: strings.ToLower(kind), Namespaced: words[4] == "ns",
		Verbs: allVerbs, Strategy: s, UnconditionalUpdate: true,
	}
	for _, word := range words[5:] {
		key, value, _ := strings.Cut(word, "=")
		values := strings.Split(value, ",")
		switch key {
		case "sub":
			for _, name := range values {
				r.Subresources = append(r.Subresources, builtinSubresource(name))
			}
		case "short":
			r.ShortNames = values
		case "cat":
			r.Categories = values
		case "field":
			r.SelectableFields = values
		case "gen":
			s.generation = true
		case "meta":
			s.keepsMeta = true
		case "labels":
			s.keepsLabels = true
		case "owners":
			s.keepsOwners = true
		case "cond":
			r.UnconditionalUpdate = false
		case "upsert":
			r.CreateOnUpdate = true
		case "create":
			r.Verbs = []string{"create"}
		case "readonly":
			r.Verbs = []string{"get", "list"}
		case "nodc":
			r.Verbs = slices.DeleteFunc(slices.Clone(allVerbs), func(v string) bool { return v == "deletecollection" })
		default:
			panic(fmt.Sprintf("types: the table of built-in resources has an unknown word %q for %s", word, r.Plural))
		}
	}
	s.resource = r
	s.hasStatus = r.Subresource(Status) != nil
	s.list = scheme.Scheme.Recognizes(r.ListGroupVersionKind())
	return r
}

func builtinSubresource(name string) Subresource {
	s := Subresource{Name: name, Verbs: subresourceVerbs}
	switch name {
	case Scale:
		s.Kind = ScaleKind
		s.Replicas = &ReplicaPaths{Spec: "spec.replicas", Status: "status.replicas", Selector: "spec.selector"}
	case "finalize":
		s.Verbs = []string{"update"}
	}
	return s
}
