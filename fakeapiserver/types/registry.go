package types

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Registry is the set of resources that a server serves, in the order of Add.
type Registry struct {
	resources []*Resource
	byGVR     map[schema.GroupVersionResource]*Resource
	byGVK     map[schema.GroupVersionKind]*Resource
	changes   int
}

// NewRegistry returns an empty Registry.
func NewRegistry() *Registry {
	return &Registry{
		byGVR: map[schema.GroupVersionResource]*Resource{},
		byGVK: map[schema.GroupVersionKind]*Resource{},
	}
}

// Changes counts what has changed the Registry: as long as it is the same, so are the resources.
func (g *Registry) Changes() int { return g.changes }

// Clone returns a copy, which changes alone. Both have the same resources.
func (g *Registry) Clone() *Registry {
	return &Registry{resources: slices.Clone(g.resources), byGVR: maps.Clone(g.byGVR), byGVK: maps.Clone(g.byGVK)}
}

// Add registers resources. If one is incomplete or already registered, it fails and adds none.
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
	g.changes++
	for _, r := range resources {
		g.resources = append(g.resources, r)
		g.byGVR[r.GroupVersionResource()] = r
		// Two resources may share a kind (autoscaling Scale); the first one wins.
		if gvk := r.GroupVersionKind(); g.byGVK[gvk] == nil {
			g.byGVK[gvk] = r
		}
	}
	return nil
}

// Replace replaces all versions of a resource, or appends them if there were none. They must have that group and plural name. If
// one is incomplete, it fails and changes nothing.
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

// Remove removes every version of a resource, as when its CustomResourceDefinition is deleted. It reports whether there was one.
func (g *Registry) Remove(gr schema.GroupResource) bool {
	g.changes++
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

// Lookup returns a resource by group, version and plural; nil if it is not served.
func (g *Registry) Lookup(gvr schema.GroupVersionResource) *Resource { return g.byGVR[gvr] }

// ByKind returns a resource by the kind of its objects; nil if there is none.
func (g *Registry) ByKind(gvk schema.GroupVersionKind) *Resource { return g.byGVK[gvk] }

// All returns a copy of the resources in the order in which they were added.
func (g *Registry) All() []*Resource { return slices.Clone(g.resources) }

// Group is an API group with its versions, preferred version first.
type Group struct {
	Name     string
	Versions []Version
}

// Version is one version of a group with its resources, in the order of Add.
type Version struct {
	Name      string
	Resources []*Resource
}

// Groups returns the groups in the order of a real server's discovery, each with its versions in the order that
// discovery prefers (v2, v1, v1beta1, v1alpha1, …).
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
	byPriority(groups)
	for i := range groups {
		slices.SortStableFunc(groups[i].Versions, func(a, b Version) int {
			return version.CompareKubeAwareVersionStrings(b.Name, a.Name)
		})
	}
	return groups
}
