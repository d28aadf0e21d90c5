package minimal

import (
	"slices"
	"strings"

	"github.com/informersim/informersim/scenarios/script"
)

// Shape returns what the run has in common with others that show the same defect. There are many ways to bring an informer into a
// state, so the shape is not the script but the set of what is in it that survived the search: the kinds of writes other than
// creates, the features of informers, handlers and workers, and where faults hit. Waits, names, numbers and the order do not count. What the violation names as
// wrong belongs to it: two defects that show in any run have nothing else that tells them apart.
func (r *Result) Shape() string {
	has := map[string]bool{}
	for _, c := range r.Scenario.File().Commands() {
		for _, f := range featuresOf(c) {
			has[f] = true
		}
	}
	for i := range r.Options.Picks {
		if p := &r.Options.Picks[i]; p.Fault() {
			has[faultOn(p.Kind.String())] = true
		}
	}
	var all []string
	for f := range has { // order: sorted below
		all = append(all, f)
	}
	slices.Sort(all)
	if c := r.Violation.Culprit(); c != "" {
		all = append(all, general(c))
	}
	return strings.Join(all, ", ")
}

// ofInformers are the arguments of an informer whose values count, because they are one of a few.
var ofInformers = []string{"queue", "watch-list"}

func featuresOf(c *script.Command) (all []string) {
	switch c.Name {
	case "update", "delete", "handler", "remove", "stop", "restore", "worker", "reconcile", "handle":
		return []string{c.Name}
	case "restart":
		if len(c.Args) > 0 && !strings.Contains(c.Args[0].Value, "/") {
			return []string{c.Name} // of an informer
		}
		return []string{faultOn(c.Name)}
	case "compact":
		return []string{faultOn(c.Name)}
	case "fault":
		for _, a := range c.Args {
			if a.Key != "" {
				return []string{faultOn(a.Key)}
			}
		}
	case "informer":
		for _, a := range c.Args {
			switch {
			case slices.Contains(ofInformers, a.Key):
				all = append(all, "informer "+a.Key+"="+a.Value)
			case a.Key != "" && a.Key != "handlers" && a.Key != "replica":
				all = append(all, "informer "+a.Key)
			}
		}
	}
	return all
}

// faultOn says where a fault hits: lists, writes, or what an informer hears of the cluster between its lists. The kinds of the latter
// can mostly stand for each other: after a compaction, a restart of a replica and half of the faults of watches it lists again.
func faultOn(name string) string {
	for _, where := range []string{"list", "write"} {
		if name == where || strings.HasPrefix(name, where+"-") {
			return "fault of a " + where
		}
	}
	return "fault between lists"
}
