package discovery

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// checks are the health checks, in the order in which a verbose answer lists them.
var checks = []string{"ping", "log", "etcd"}

// health answers /healthz, /readyz and /livez, alone or with the name of a check: "ok", or 500 with what failed.
func health(q Request, parts []string) (Answer, bool) {
	if len(parts) > 2 || len(parts) == 2 && !slices.Contains(checks, parts[1]) {
		return Answer{}, false
	}
	endpoint := parts[0]
	if len(parts) == 2 {
		if slices.Contains(q.Failed, parts[1]) {
			return text(http.StatusInternalServerError, fmt.Sprintf("internal server error: %s is not well\n", parts[1])), true
		}
		return text(http.StatusOK, "ok"), true
	}
	var report strings.Builder
	failed := false
	for _, check := range checks {
		switch {
		case slices.Contains(q.Ask.Query["exclude"], check):
			fmt.Fprintf(&report, "[+]%s excluded: ok\n", check)
		case slices.Contains(q.Failed, check):
			fmt.Fprintf(&report, "[-]%s failed: reason withheld\n", check)
			failed = true
		default:
			fmt.Fprintf(&report, "[+]%s ok\n", check)
		}
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
