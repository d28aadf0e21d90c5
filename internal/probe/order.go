package probe

import (
	"fmt"
	"sort"
	"strings"
)

// inOrder sorts the lists that a real server builds in map order: the causes of a refusal and the resources of a
// discovery document.
func inOrder(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	switch m["kind"] {
	case "Status":
		sortCauses(m)
	case "APIResourceList":
		sortBy(m["resources"], "name")
	case "APIGroupDiscoveryList":
		for _, item := range list(m["items"]) {
			inOrder(item)
		}
	default:
		for _, version := range list(m["versions"]) {
			if version, ok := version.(map[string]any); ok {
				sortBy(version["resources"], "resource")
			}
		}
	}
	if object, ok := m["object"].(map[string]any); ok && m["type"] == "ERROR" {
		sortCauses(object)
	}
	return m
}

func list(v any) []any {
	items, _ := v.([]any)
	return items
}

// sortBy sorts objects by the text of a field.
func sortBy(v any, key string) {
	items := list(v)
	text := func(i int) string {
		m, _ := items[i].(map[string]any)
		return fmt.Sprint(m[key])
	}
	sort.SliceStable(items, func(i, j int) bool { return text(i) < text(j) })
}

// sortCauses sorts details.causes and the same list in the message.
func sortCauses(status map[string]any) {
	details, _ := status["details"].(map[string]any)
	causes := list(details["causes"])
	if len(causes) < 2 {
		return
	}
	sort.SliceStable(causes, func(i, j int) bool { return compact(causes[i]) < compact(causes[j]) })
	message, _ := status["message"].(string)
	head, rest, found := strings.Cut(message, " is invalid: [")
	if !found || !strings.HasSuffix(rest, "]") {
		return
	}
	rest = strings.TrimSuffix(rest, "]")
	var parts []string
	for rest != "" {
		part := causeAt(causes, rest)
		if part == "" {
			return
		}
		parts = append(parts, part)
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, part), ", ")
	}
	sort.Strings(parts)
	status["message"] = head + " is invalid: [" + strings.Join(parts, ", ") + "]"
}

// causeAt returns the longest cause, as formatted in a message, that text begins with.
func causeAt(causes []any, text string) string {
	longest := ""
	for _, cause := range causes {
		m, _ := cause.(map[string]any)
		part := fmt.Sprintf("%v: %v", m["field"], m["message"])
		if strings.HasPrefix(text, part) && len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}
