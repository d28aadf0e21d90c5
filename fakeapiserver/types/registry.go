package types

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Registry is the set of resources that a server serves. Its order is the order of Add, and never that of a map.
type Registry struct {
	resources []*Resource
	byGVR     map[schema.GroupVersionResource]*Resource
	byGVK     map[schema.GroupVersionKind]*Resource
}

// NewRegistry makes an empty one.
func NewRegistry() *Registry {
	return &Registry{
		byGVR: map[schema.GroupVersionResource]*Resource{},
		byGVK: map[schema.GroupVersionKind]*Resource{},
	}
}

// Add registers resources. It fails, and adds none, if one is incomplete or is there already.
func (g *Registry) Add(resources ...*Resource) error {
	seen := map[schema.GroupVersionResource]bool{}
	for _, r := range resources {
		if err := r.validate(); err != nil {
			return err
		}
		gvr := r.GroupVersionResource()
		if g.byGVR[gvr] != nil || seen[gvr] {
			return fmt.Errorf("types: resource %s is registered twice", r)
		}
		seen[gvr] = true
	}
	for _, r := range resources {
		g.resources = append(g.resources, r)
		g.byGVR[r.GroupVersionResource()] = r
		// Two resources may share a kind (autoscaling Scale); the first one has it.
		if gvk := r.GroupVersionKind(); g.byGVK[gvk] == nil {
			g.byGVK[gvk] = r
		}
	}
	return nil
}

// Replace puts resources where all versions of a resource were, or at the end if there were none. They must be of that group and
// plural name. It fails, and changes nothing, if one is incomplete.
func (g *Registry) Replace(gr schema.GroupResource, resources ...*Resource) error {
	for _, r := range resources {
		if err := r.validate(); err != nil {
			return err
		}
		if r.GroupResource() != gr {
			return fmt.Errorf("types: resource %s cannot replace one of %s", r, gr)
		}
	}
	at := slices.IndexFunc(g.resources, func(r *Resource) bool { return r.GroupResource() == gr })
	if at < 0 {
		return g.Add(resources...)
	}
	g.Remove(gr)
	after := slices.Clone(g.resources[at:])
	g.resources = g.resources[:at]
	err := g.Add(resources...)
	g.resources = append(g.resources, after...)
	return err
}

func (g *Registry) forget(r *Resource) {
	delete(g.byGVR, r.GroupVersionResource())
	if g.byGVK[r.GroupVersionKind()] == r {
		delete(g.byGVK, r.GroupVersionKind())
	}
}

// Remove forgets every version of a resource, as when its CustomResourceDefinition is deleted. It tells whether there was one.
func (g *Registry) Remove(gr schema.GroupResource) bool {
	n := len(g.resources)
	g.resources = slices.DeleteFunc(g.resources, func(r *Resource) bool {
		if r.GroupResource() != gr {
			return false
		}
		g.forget(r)
		return true
	})
	return len(g.resources) != n
}

// Lookup finds a resource by what it is addressed by; nil if it is not served.
func (g *Registry) Lookup(gvr schema.GroupVersionResource) *Resource { return g.byGVR[gvr] }

// ByKind finds a resource by the kind of its objects; nil if there is none.
func (g *Registry) ByKind(gvk schema.GroupVersionKind) *Resource { return g.byGVK[gvk] }

// All are the resources in the order in which they were added. The slice is a copy.
func (g *Registry) All() []*Resource { return slices.Clone(g.resources) }

// Group is an API group with its versions, the preferred one first.
type Group struct {
	Name     string
	Versions []Version
}

// Version is one version of a group with its resources, in the order of Add.
type Version struct {
	Name      string
	Resources []*Resource
}

// Groups are the groups in the order in which their first resource was added, each with its versions in the order in which
// discovery prefers them (v2, v1, v1beta1, v1alpha1, …).
func (g *Registry) Groups() []Group {
	var groups []Group
	for _, r := range g.resources {
		i := slices.IndexFunc(groups, func(x Group) bool { return x.Name == r.Group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, Group{Name: r.Group})
		}
		versions := &groups[i].Versions
		j := slices.IndexFunc(*versions, func(x Version) bool { return x.Name == r.Version })
		if j < 0 {
			j = len(*versions)
			*versions = append(*versions, Version{Name: r.Version})
		}
		(*versions)[j].Resources = append((*versions)[j].Resources, r)
	}
	for i := range groups {
		slices.SortStableFunc(groups[i].Versions, func(a, b Version) int {
			return version.CompareKubeAwareVersionStrings(b.Name, a.Name)
		})
	}
	return groups
}
