package builtin

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

// rules says what a user may do, for SelfSubjectRulesReviews: what the roles in the cluster say, as a real server with RBAC does. Since everything
// is allowed here, a user to whom they do not give everything gets one rule more.
type rules struct{}

// everything allows every verb on every resource, and on every path.
var (
	everything = authorizer.DefaultResourceRuleInfo{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}
	everywhere = authorizer.DefaultNonResourceRuleInfo{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}
)

// RulesFor implements authorizer.RuleResolver.
func (r rules) RulesFor(ctx context.Context, who user.Info, namespace string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	resources, paths, incomplete, err := rbac.New(r, r, r, r).RulesFor(ctx, who, namespace)
	if !slices.ContainsFunc(resources, func(i authorizer.ResourceRuleInfo) bool {
		return slices.Contains(i.GetVerbs(), "*") && slices.Contains(i.GetAPIGroups(), "*") && slices.Contains(i.GetResources(), "*") && len(i.GetResourceNames()) == 0
	}) {
		resources = slices.Insert(resources, 0, authorizer.ResourceRuleInfo(&everything))
	}
	if !slices.ContainsFunc(paths, func(i authorizer.NonResourceRuleInfo) bool {
		return slices.Contains(i.GetVerbs(), "*") && slices.Contains(i.GetNonResourceURLs(), "*")
	}) {
		paths = slices.Insert(paths, 0, authorizer.NonResourceRuleInfo(&everywhere))
	}
	return resources, paths, incomplete, err
}

// GetRole implements validation.RoleGetter.
func (rules) GetRole(ctx context.Context, namespace, name string) (*rbacv1.Role, error) {
	if s := sessionOf(ctx); s != nil {
		if role, ok := s.other(rbacv1.Resource("roles"), namespace, name).(*rbacv1.Role); ok {
			return role, nil
		}
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("role"), name)
}

// GetClusterRole implements validation.ClusterRoleGetter.
func (rules) GetClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	if s := sessionOf(ctx); s != nil {
		if role, ok := s.other(rbacv1.Resource("clusterroles"), "", name).(*rbacv1.ClusterRole); ok {
			return role, nil
		}
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("clusterrole"), name)
}

// ListRoleBindings implements validation.RoleBindingLister.
func (rules) ListRoleBindings(ctx context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	return ofRBAC[*rbacv1.RoleBinding](ctx, "rolebindings", namespace), nil
}

// ListClusterRoleBindings implements validation.ClusterRoleBindingLister.
func (rules) ListClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return ofRBAC[*rbacv1.ClusterRoleBinding](ctx, "clusterrolebindings", ""), nil
}

// ofRBAC returns the stored objects of a resource of RBAC.
func ofRBAC[T runtime.Object](ctx context.Context, plural, namespace string) (all []T) {
	s := sessionOf(ctx)
	if s == nil || s.write.List == nil {
		return nil
	}
	for _, obj := range s.write.List(rbacv1.Resource(plural), namespace) {
		if o, ok := obj.(T); ok {
			all = append(all, o)
		}
	}
	return all
}
