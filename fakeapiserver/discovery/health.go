package discovery

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// kubeHooks are the checks of a kube-apiserver after the first ones: what it does once it has started. All of it is done here.
var kubeHooks = []string{
	"poststarthook/start-apiserver-admission-initializer", "poststarthook/generic-apiserver-start-informers",
	"poststarthook/priority-and-fairness-config-consumer", "poststarthook/priority-and-fairness-filter",
	"poststarthook/storage-object-count-tracker-hook", "poststarthook/start-apiextensions-informers",
	"poststarthook/start-apiextensions-controllers", "poststarthook/crd-informer-synced",
	"poststarthook/start-system-namespaces-controller", "poststarthook/start-cluster-authentication-info-controller",
	"poststarthook/start-kube-apiserver-identity-lease-controller", "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
	"poststarthook/storage-readiness", "poststarthook/start-legacy-token-tracking-controller",
	"poststarthook/start-service-ip-repair-controllers", "poststarthook/rbac/bootstrap-roles",
	"poststarthook/scheduling/bootstrap-system-priority-classes", "poststarthook/priority-and-fairness-config-producer",
	"poststarthook/bootstrap-controller", "poststarthook/start-kubernetes-service-cidr-controller",
	"poststarthook/start-kube-aggregator-informers", "poststarthook/apiservice-status-local-available-controller",
	"poststarthook/apiservice-status-remote-available-controller", "poststarthook/apiservice-registration-controller",
	"poststarthook/apiservice-discovery-controller", "poststarthook/kube-apiserver-autoregistration", "autoregister-completion",
	"poststarthook/apiservice-openapi-controller", "poststarthook/apiservice-openapiv3-controller",
}

// kubeChecks returns the health checks of a kube-apiserver's endpoint, in the order of a verbose answer.
func kubeChecks(endpoint string) []string {
	if endpoint == "readyz" {
		return slices.Concat([]string{"ping", "log", "etcd", "etcd-readiness", "informer-sync"}, kubeHooks, []string{"shutdown"})
	}
	return slices.Concat([]string{"ping", "log", "loopback-serving-certificate", "etcd"}, kubeHooks)
}

// checksOf returns the health checks of an endpoint, in the order of a verbose answer.
func (s *Server) checksOf(endpoint string) []string {
	if s.kube() {
		return kubeChecks(endpoint)
	}
	all := []string{"ping", "log", "etcd"}
	if endpoint == "readyz" {
		all = append(all, "etcd-readiness")
	} else {
		all = append(all, "loopback-serving-certificate")
	}
	all = append(all, "poststarthook/max-in-flight-filter", "poststarthook/storage-object-count-tracker-hook",
		"poststarthook/start-apiextensions-informers", "poststarthook/start-apiextensions-controllers", "poststarthook/crd-informer-synced")
	if endpoint == "readyz" {
		all = append(all, "shutdown")
	}
	return all
}

// health answers /healthz, /readyz and /livez, alone or with the name of a check: "ok", or a 500 with what failed.
func (s *Server) health(q Request, parts []string) (Answer, bool) {
	checks, name := s.checksOf(parts[0]), strings.Join(parts[1:], "/")
	if len(parts) > 1 && !slices.Contains(checks, name) {
		return Answer{}, false
	}
	endpoint := parts[0]
	if len(parts) > 1 {
		if why, failed := q.Failed[name]; failed {
			return text(http.StatusInternalServerError, fmt.Sprintf("internal server error: %s\n", cmp.Or(why, name+" is not well"))), true
		}
		well := text(http.StatusOK, "ok")
		well.Headers = nil // a real server says nothing more of a single check that is well
		return well, true
	}
	var report strings.Builder
	failed := false
	for _, check := range checks {
		why, fails := q.Failed[check]
		switch {
		case slices.Contains(q.Ask.Query["exclude"], check):
			fmt.Fprintf(&report, "[+]%s excluded: ok\n", check)
		case fails:
			fmt.Fprintf(&report, "[-]%s failed: %s\n", check, cmp.Or(why, "reason withheld"))
			failed = true
		default:
			fmt.Fprintf(&report, "[+]%s ok\n", check)
		}
	}
	if unknown := unknownChecks(q.Ask.Query["exclude"], checks); len(unknown) > 0 {
		fmt.Fprintf(&report, "warn: some health checks cannot be excluded: no matches for %s\n", strings.Join(unknown, ", "))
	}
	_, verbose := q.Ask.Query["verbose"]
	switch {
	case failed:
		return text(http.StatusInternalServerError, report.String()+endpoint+" check failed\n"), true
	case verbose:
		return text(http.StatusOK, report.String()+endpoint+" check passed\n"), true
	}
	return text(http.StatusOK, "ok"), true
}

// unknownChecks returns the names that are not checks, quoted and in order.
func unknownChecks(names, checks []string) []string {
	var unknown []string
	for _, name := range names {
		if !slices.Contains(checks, name) {
			unknown = append(unknown, fmt.Sprintf("%q", name))
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}
