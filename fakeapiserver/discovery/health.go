package discovery

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// checksOf returns the health checks of an endpoint, in the order of a verbose answer.
func checksOf(endpoint string) []string {
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
func health(q Request, parts []string) (Answer, bool) {
	checks, name := checksOf(parts[0]), strings.Join(parts[1:], "/")
	if len(parts) > 1 && !slices.Contains(checks, name) {
		return Answer{}, false
	}
	endpoint := parts[0]
	if len(parts) > 1 {
		if why, failed := q.Failed[name]; failed {
			return text(http.StatusInternalServerError, fmt.Sprintf("internal server error: %s\n", cmp.Or(why, name+" is not well"))), true
		}
		return text(http.StatusOK, "ok"), true
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
