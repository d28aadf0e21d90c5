package discovery

import (
	"cmp"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// An aggregation layer answers /apis and /apis/GROUP by its APIServices, whatever is served: a group whose APIServices have been deleted is
// not listed, and one that another server is to serve is. The aggregated document knows what is served here by itself, and is only told of
// the others.

// aggregator is the group of the APIServices themselves. It has no APIService, and comes first.
const aggregator = "apiregistration.k8s.io"

// registeredGroups returns the groups of /apis.
func (s *Server) registeredGroups(registered []types.Registration) []metav1.APIGroup {
	var all []metav1.APIGroup
	if g := s.group(aggregator); g != nil {
		all = append(all, *apiGroup(*g))
	}
	seen := map[string]bool{"": true} // the core group is not listed
	for i := range registered {
		name := registered[i].Group
		if !seen[name] {
			seen[name] = true
			all = append(all, *registeredGroup(registered, name))
		}
	}
	for i := range all {
		all[i].TypeMeta = metav1.TypeMeta{}
	}
	return all
}

// registeredGroup returns the document of a group, nil if it has no APIServices.
func registeredGroup(registered []types.Registration, name string) *metav1.APIGroup {
	g := types.Group{Name: name}
	for i := range registered {
		if registered[i].Group == name {
			g.Versions = append(g.Versions, types.Version{Name: registered[i].Version})
		}
	}
	if len(g.Versions) == 0 {
		return nil
	}
	return apiGroup(g)
}

// withRemote adds the versions that other servers are to serve to the aggregated document. What they have is not known, and so is stale.
func withRemote(groups []apidiscoveryv2.APIGroupDiscovery, registered []types.Registration) []apidiscoveryv2.APIGroupDiscovery {
	priorities := map[schema.GroupVersion]types.Priority{}
	for i := range registered {
		r := &registered[i]
		if !r.Remote || r.Group == "" {
			continue
		}
		priorities[r.GroupVersion] = r.Priority
		entry := apidiscoveryv2.APIVersionDiscovery{Version: r.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessStale}
		at := slices.IndexFunc(groups, func(g apidiscoveryv2.APIGroupDiscovery) bool { return g.Name == r.Group })
		if at < 0 {
			at = len(groups)
			groups = append(groups, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: r.Group}})
		}
		versions := slices.DeleteFunc(groups[at].Versions, func(v apidiscoveryv2.APIVersionDiscovery) bool { return v.Version == r.Version })
		groups[at].Versions = append(versions, entry)
	}
	if len(priorities) == 0 {
		return groups
	}
	of := func(group, version string) types.Priority {
		gv := schema.GroupVersion{Group: group, Version: version}
		if p, ok := priorities[gv]; ok {
			return p
		}
		return types.PriorityOf(gv)
	}
	highest := map[string]int32{}
	for _, g := range groups {
		slices.SortStableFunc(g.Versions, func(a, b apidiscoveryv2.APIVersionDiscovery) int {
			return cmp.Or(cmp.Compare(of(g.Name, b.Version).Version, of(g.Name, a.Version).Version), version.CompareKubeAwareVersionStrings(b.Version, a.Version))
		})
		for _, v := range g.Versions {
			highest[g.Name] = max(highest[g.Name], of(g.Name, v.Version).Group)
		}
	}
	slices.SortStableFunc(groups, func(a, b apidiscoveryv2.APIGroupDiscovery) int {
		return cmp.Or(cmp.Compare(highest[b.Name], highest[a.Name]), strings.Compare(a.Name, b.Name))
	})
	return groups
}
