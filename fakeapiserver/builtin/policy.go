package builtin

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// Policy returns the roles and bindings of RBAC that a kube-apiserver creates when it starts.
func Policy() (all []runtime.Object) {
	for _, r := range slices.Concat(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()) {
		all = append(all, &r)
	}
	for _, b := range slices.Concat(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()) {
		all = append(all, &b)
	}
	roles := bootstrappolicy.NamespaceRoles()
	for _, namespace := range slices.Sorted(maps.Keys(roles)) {
		for _, r := range roles[namespace] {
			r.Namespace = namespace
			all = append(all, &r)
		}
	}
	bindings := bootstrappolicy.NamespaceRoleBindings()
	for _, namespace := range slices.Sorted(maps.Keys(bindings)) {
		for _, b := range bindings[namespace] {
			b.Namespace = namespace
			all = append(all, &b)
		}
	}
	return all
}
