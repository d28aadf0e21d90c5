// Package quotas limits writes by the ResourceQuotas of their namespaces, with Kubernetes' own rules: what an object uses, which quota that is
// taken from, and what a refusal says.
//
//	q, err := quotas.New()
//	server, err := rest.New(rest.Options{Quotas: q, …})
//
// A kube-apiserver's admission plugin ResourceQuota has goroutines that gather the writes of a namespace. Here [Quotas.Charge] does the same
// within the step that stores the object, so quotas are never overdrawn and never in conflict. As there, it adds to status.used and takes nothing
// back: a write that fails after it, or a deletion, is corrected by who counts, which is kube-controller-manager's resourcequota controller, or
// [Quotas.Count] in a simulated world. Until somebody has counted once, a quota limits nothing.
package quotas
