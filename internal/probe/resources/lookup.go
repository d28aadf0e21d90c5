package resources

import "strings"

// A Resource is something that probes can name.
type Resource struct {
	// Group is empty for the core group.
	Group, Version, Plural, Kind string
	// Cluster says that its objects have no namespace.
	Cluster bool
}

// Path is the path under which the resource's group and version are served.
func (r Resource) Path() string {
	if r.Group == "" {
		return "/api/" + r.Version
	}
	return "/apis/" + r.Group + "/" + r.Version
}

// APIVersion is what the resource's objects have in their field of that name.
func (r Resource) APIVersion() string { return strings.TrimPrefix(r.Group+"/"+r.Version, "/") }

// Lookup finds a resource by the name that probes use: its plural, or for the second group or version that has this
// plural the plural followed by a dot and what tells it apart, such as events.events.k8s.io and horizontalpodautoscalers.v1.
func Lookup(name string) (Resource, bool) {
	r, found := all[name]
	return r, found
}

// Served returns the name of the resource that is served at a path, or "".
func Served(path string) string {
	words := strings.Split(strings.Trim(path, "/"), "/")
	group, rest := "", words
	switch {
	case len(words) > 1 && words[0] == "api":
		rest = words[2:]
	case len(words) > 2 && words[0] == "apis":
		group, rest = words[1], words[3:]
	default:
		return ""
	}
	if len(rest) > 2 && rest[0] == "namespaces" && rest[2] != "finalize" && rest[2] != "status" {
		rest = rest[2:]
	}
	if len(rest) == 0 {
		return ""
	}
	plural, _, _ := strings.Cut(rest[0], "?")
	for _, name := range []string{plural, plural + "." + group} {
		if r, found := all[name]; found && r.Group == group {
			return name
		}
	}
	return ""
}

// all maps names to resources.
var all = table()

func table() map[string]Resource {
	t := map[string]Resource{
		"gizmos":    {Group: Group, Version: Version, Plural: "gizmos", Kind: "Gizmo"},
		"sprockets": {Group: Group, Version: Version, Plural: "sprockets", Kind: "Sprocket", Cluster: true},
	}
	for line := range strings.Lines(builtin) {
		words := strings.Fields(line)
		if len(words) < 4 {
			continue
		}
		r := Resource{Group: strings.TrimPrefix(words[0], "-"), Version: words[1], Plural: words[2], Kind: words[3], Cluster: len(words) > 4}
		name := r.Plural
		if first, taken := t[name]; taken && first.Group == r.Group {
			name += "." + r.Version
		} else if taken {
			name += "." + r.Group
		}
		t[name] = r
	}
	return t
}
