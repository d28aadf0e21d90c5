package simtest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// readRoles reads what Options.Roles names.
func readRoles(files []string) (all []Object, err error) {
	manifests, err := readManifests(files)
	if err != nil {
		return nil, err
	}
	var around []Object // what they are in, and for whom they are
	for _, m := range manifests {
		found, err := objectsIn(m, corev1.GroupName, "Namespace", "ServiceAccount")
		if err != nil {
			return nil, err
		}
		around = append(around, found...)
		if found, err = objectsIn(m, rbacv1.GroupName, "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"); err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(files) > 0 && len(all) == 0 {
		return nil, fmt.Errorf("there is no Role, ClusterRole or binding in %s", strings.Join(files, ", "))
	}
	return append(around, all...), nil
}

// createRoles creates the roles of the options.
func (e *Env) createRoles() {
	if len(e.w.r.roles) > 0 {
		e.writeAll("Options.Roles", wire.Write{OrCreate: true}, e.w.r.roles)
	}
}
