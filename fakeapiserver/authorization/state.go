package authorization

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// state is what the authorizers read: the newest state of the Store. It implements the getters and listers of RBAC.
type state struct {
	cluster *fakeapiserver.Cluster
}

func newState(c *fakeapiserver.Cluster) *state { return &state{cluster: c} }

// GetRole implements validation.RoleGetter.
func (s *state) GetRole(_ context.Context, namespace, name string) (*rbacv1.Role, error) {
	return get[*rbacv1.Role](s, "role", namespace, name)
}

// GetClusterRole implements validation.ClusterRoleGetter.
func (s *state) GetClusterRole(_ context.Context, name string) (*rbacv1.ClusterRole, error) {
	return get[*rbacv1.ClusterRole](s, "clusterrole", "", name)
}

// ListRoleBindings implements validation.RoleBindingLister.
func (s *state) ListRoleBindings(_ context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	return list[*rbacv1.RoleBinding](s, rbacv1.Resource("rolebindings"), namespace), nil
}

// ListClusterRoleBindings implements validation.ClusterRoleBindingLister.
func (s *state) ListClusterRoleBindings(context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return list[*rbacv1.ClusterRoleBinding](s, rbacv1.Resource("clusterrolebindings"), ""), nil
}

// get returns an object of RBAC. One that is missing is named by the singular, as by client-go's listers: reasons show it.
func get[T runtime.Object](s *state, singular, namespace, name string) (found T, err error) {
	if id, ok := s.cluster.FindResource(rbacv1.Resource(singular + "s")); ok {
		obj, _ := s.cluster.Store().Get(id, namespace, name)
		if found, ok = obj.(T); ok {
			return found, nil
		}
	}
	return found, apierrors.NewNotFound(rbacv1.Resource(singular), name)
}

// list returns the objects of a namespace or, for "", of all, in the order of their keys.
func list[T runtime.Object](s *state, gr schema.GroupResource, namespace string) (all []T) {
	if id, ok := s.cluster.FindResource(gr); ok {
		all = store.All[T](s.cluster.Store(), id, namespace)
	}
	return all
}
