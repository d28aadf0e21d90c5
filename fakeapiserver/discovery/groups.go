package discovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// aggregated is the kind of the document with every group, version and resource.
var aggregated = apidiscoveryv2.SchemeGroupVersion.WithKind("APIGroupDiscoveryList")

// root answers /api or /apis: a list of versions or groups, or the aggregated document if requested.
func (s *Server) root(q Request, core bool) Answer {
	if core || !s.kube() { // the aggregator answers /apis itself
		if refusal, refused := refuse(q); refused {
			return refusal
		}
	}
	f, err := q.Ask.NegotiateKind(aggregated)
	if err != nil {
		return Answer{Answer: q.Ask.Error(err)}
	}
	if f.As == aggregated {
		contentType := f.ContentType() + ";g=" + aggregated.Group + ";v=" + aggregated.Version + ";as=" + aggregated.Kind
		a := withETag(q, encoded(q, f, contentType, s.aggregate(q, core)))
		a.Headers = append(a.Headers, [2]string{"Vary", "Accept"}, [2]string{"Cache-Control", "public"})
		return a
	}
	if core {
		versions := &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, ServerAddressByClientCIDRs: s.addresses(), Versions: []string{}}
		if g := s.group(""); g != nil {
			for _, v := range g.Versions {
				versions.Versions = append(versions.Versions, v.Name)
			}
		}
		return encoded(q, f, f.ContentType(), versions)
	}
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	if q.Registered != nil {
		list.Groups = s.registeredGroups(q.Registered)
		return encoded(q, f, f.ContentType(), list)
	}
	for _, g := range s.registry.Groups() {
		if g.Name != "" {
			group := apiGroup(g)
			group.TypeMeta = metav1.TypeMeta{}
			list.Groups = append(list.Groups, *group)
		}
	}
	return encoded(q, f, f.ContentType(), list)
}

func (s *Server) addresses() []metav1.ServerAddressByClientCIDR {
	return []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: s.address}}
}

// apiGroup returns the document at /apis/GROUP.
func apiGroup(g types.Group) *metav1.APIGroup {
	group := &metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: g.Name}
	for _, v := range g.Versions {
		gv := schema.GroupVersion{Group: g.Name, Version: v.Name}
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v.Name})
	}
	group.PreferredVersion = group.Versions[0]
	return group
}

// resourceList returns the document at /api/v1 or /apis/GROUP/VERSION.
func resourceList(group string, v types.Version) *metav1.APIResourceList {
	list := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: schema.GroupVersion{Group: group, Version: v.Name}.String(), APIResources: []metav1.APIResource{},
	}
	if group == "" {
		list.APIVersion = "" // as from a real server, at its oldest path
	}
	for _, r := range v.Resources {
		entry := metav1.APIResource{
			Name: r.Plural, SingularName: r.Singular, Namespaced: r.Namespaced, Kind: r.Kind, Verbs: r.Verbs,
			ShortNames: r.ShortNames, Categories: r.Categories,
		}
		if r.Allows("watch", "") { // what is not watched is not stored
			entry.StorageVersionHash = storageVersionHash(r)
		}
		list.APIResources = append(list.APIResources, entry)
		for _, sub := range r.Subresources {
			entry := metav1.APIResource{Name: r.Plural + "/" + sub.Name, Namespaced: r.Namespaced, Kind: r.KindOf(sub.Name).Kind, Verbs: sub.Verbs}
			if !sub.Kind.Empty() && sub.Kind.GroupVersion() != r.GroupVersion() {
				entry.Group, entry.Version = sub.Kind.Group, sub.Kind.Version
			}
			list.APIResources = append(list.APIResources, entry)
		}
	}
	return list
}

// storageVersionHash distinguishes resources by their storage version.
func storageVersionHash(r *types.Resource) string {
	version := r.StorageVersion
	if r.Group == "apiextensions.k8s.io" {
		version = "v1beta1" // in which a real server still stores definitions
	}
	sum := sha256.Sum256([]byte(r.StoreResource().Group + "/" + version + "/" + r.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// aggregate returns every resource in one document.
func (s *Server) aggregate(q Request, core bool) *apidiscoveryv2.APIGroupDiscoveryList {
	list := &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: aggregated.Kind, APIVersion: aggregated.GroupVersion().String()}, Items: []apidiscoveryv2.APIGroupDiscovery{},
	}
	for _, g := range s.registry.Groups() {
		if (g.Name == "") != core {
			continue
		}
		group := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.Name}}
		for _, v := range g.Versions {
			version := apidiscoveryv2.APIVersionDiscovery{Version: v.Name, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
			for _, r := range v.Resources {
				version.Resources = append(version.Resources, aggregateResource(r))
			}
			if slices.ContainsFunc(v.Resources, func(r *types.Resource) bool { return r.Custom }) {
				// Resources of definitions are sorted by name, built-in ones are in installation order.
				slices.SortStableFunc(version.Resources, func(a, b apidiscoveryv2.APIResourceDiscovery) int { return strings.Compare(a.Resource, b.Resource) })
			}
			group.Versions = append(group.Versions, version)
		}
		list.Items = append(list.Items, group)
	}
	if !core {
		list.Items = withRemote(list.Items, q.Registered)
	}
	return list
}

func aggregateResource(r *types.Resource) apidiscoveryv2.APIResourceDiscovery {
	kind := func(gvk schema.GroupVersionKind) *metav1.GroupVersionKind {
		if !r.Custom && gvk.GroupVersion() == r.GroupVersion() {
			return &metav1.GroupVersionKind{Kind: gvk.Kind} // a real server leaves out what the document says above
		}
		return &metav1.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}
	}
	scope := apidiscoveryv2.ScopeCluster
	if r.Namespaced {
		scope = apidiscoveryv2.ScopeNamespace
	}
	entry := apidiscoveryv2.APIResourceDiscovery{
		Resource: r.Plural, ResponseKind: kind(r.GroupVersionKind()), Scope: scope, SingularResource: r.Singular, Verbs: r.Verbs,
		ShortNames: r.ShortNames, Categories: r.Categories,
	}
	for _, sub := range r.Subresources {
		entry.Subresources = append(entry.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: sub.Name, ResponseKind: kind(r.KindOf(sub.Name)), Verbs: sub.Verbs,
		})
	}
	return entry
}

// rawJSON returns indented JSON without a final newline, as a real server writes answers that are not API objects.
func rawJSON(v any) []byte {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSuffix(data, []byte("\n"))
}
