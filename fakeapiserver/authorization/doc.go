// Package authorization says who may do what, by Kubernetes' own code.
//
//	a, err := authorization.New([]string{"Node", "RBAC"}, cluster)
//	decision, reason, err := a.Authorize(ctx, attributes)
//
// The modes are those of kube-apiserver's --authorization-mode, in their order, after the group system:masters, which may do everything. RBAC is
// plugin/pkg/auth/authorizer/rbac, Node is plugin/pkg/auth/authorizer/node. Both read the Store where a kube-apiserver has informers: a decision is a
// function of the newest state, and a role counts from the next request on.
//
// What may not be done here: change anything, start a goroutine, or keep what is not a function of the Store. The package links k8s.io/kubernetes, so only
// the serving binary and tests may import it.
package authorization
