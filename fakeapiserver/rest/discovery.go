package rest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// discovery is the document at a path of the legacy discovery API; nil if there is none.
func (s *Server) discovery(path string) runtime.Object {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	groups := s.types.Groups()
	core := slices.IndexFunc(groups, func(g types.Group) bool { return g.Name == "" })
	switch {
	case path == "/api" && core >= 0:
		v := &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{}}
		for _, version := range groups[core].Versions {
			v.Versions = append(v.Versions, version.Name)
		}
		return v
	case path == "/apis":
		list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
		for i, g := range groups {
			if i != core {
				list.Groups = append(list.Groups, *apiGroup(g, metav1.TypeMeta{}))
			}
		}
		return list
	case len(parts) == 2 && parts[0] == "api" && core >= 0:
		return resourceList(groups[core], parts[1])
	case len(parts) >= 2 && len(parts) <= 3 && parts[0] == "apis":
		i := slices.IndexFunc(groups, func(g types.Group) bool { return g.Name == parts[1] && g.Name != "" })
		switch {
		case i < 0:
			return nil
		case len(parts) == 2:
			return apiGroup(groups[i], metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"})
		}
		return resourceList(groups[i], parts[2])
	}
	return nil
}

func apiGroup(g types.Group, t metav1.TypeMeta) *metav1.APIGroup {
	group := &metav1.APIGroup{TypeMeta: t, Name: g.Name}
	for _, v := range g.Versions {
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g.Name + "/" + v.Name, Version: v.Name})
	}
	group.PreferredVersion = group.Versions[0]
	return group
}

// resourceList is what one version of a group has, in the order of names; nil without such a version. It returns an interface so
// that there being none is nil to the caller, too.
func resourceList(g types.Group, version string) runtime.Object {
	i := slices.IndexFunc(g.Versions, func(v types.Version) bool { return v.Name == version })
	if i < 0 {
		return nil
	}
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: version, APIResources: []metav1.APIResource{}}
	if g.Name != "" {
		list.GroupVersion, list.APIVersion = g.Name+"/"+version, "v1"
	}
	for _, r := range g.Versions[i].Resources {
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: r.Plural, SingularName: r.Singular, Namespaced: r.Namespaced, Kind: r.Kind, Verbs: r.Verbs,
			ShortNames: r.ShortNames, Categories: r.Categories, StorageVersionHash: storageVersionHash(r),
		})
		for _, sub := range r.Subresources {
			entry := metav1.APIResource{Name: r.Plural + "/" + sub.Name, Namespaced: r.Namespaced, Kind: r.Kind, Verbs: sub.Verbs}
			if !sub.Kind.Empty() {
				entry.Group, entry.Version, entry.Kind = sub.Kind.Group, sub.Kind.Version, sub.Kind.Kind
			}
			list.APIResources = append(list.APIResources, entry)
		}
	}
	slices.SortStableFunc(list.APIResources, func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// storageVersionHash is the hash by which clients see that the stored version has changed: that of group/version/kind.
func storageVersionHash(r *types.Resource) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%s/%s/%s", r.Group, r.StorageVersion, r.Kind)))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
