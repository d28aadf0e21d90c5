package recording

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// suspects collects what an import keeps and could be secret: where it is, never its value.
type suspects struct {
	found map[string]int // versions of objects, by what was found
	where map[string]string
}

var (
	secretName = regexp.MustCompile(`(?i)(passw|passphrase|secret|token|credential|api_?-?key|access_?-?key|private_?-?key|auth|dsn|conn(ection)?_?-?str)`)
	// In a name, these say that the value only refers to a secret.
	secretRef   = regexp.MustCompile(`(?i)(_|-|\b)(name|file|path|dir|ref|url|host|port|ttl|enabled|expiration|seconds)$`)
	secretValue = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|\bxox[abprs]-|\beyJ[A-Za-z0-9_-]{10,}\.eyJ|` +
		`[a-z][a-z0-9+.-]*://[^/\s:@"']+:[^/\s@"']+@`)
	secretLine = regexp.MustCompile(`(?im)^[\s"'-]*[\w.-]*(passw(or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)["']?\s*[:=]\s*["']?[^\s"'{\[]{4,}`)
)

// secretParts are what secretValue asks for. Nearly all texts have none of them, and to look for these takes a hundredth of the time.
var secretParts = []string{"PRIVATE KEY", "AKIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "xox", "eyJ", "://"}

// isSecretValue reports whether a value looks like a credential by itself.
func isSecretValue(value string) bool {
	return slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(value, part) }) && secretValue.MatchString(value)
}

// looksSecret reports whether a value looks like a credential, by its name or by itself.
func looksSecret(name, value string) bool {
	return value != "" && (secretName.MatchString(name) && !secretRef.MatchString(name) || isSecretValue(value))
}

// look looks for credentials in an object as it will be written.
func (s *suspects) look(o *object) error {
	var content map[string]any
	if err := json.Unmarshal(o.raw, &content); err != nil {
		return err
	}
	found := map[string]bool{}
	if meta, ok := content["metadata"].(map[string]any); ok {
		annotations, _ := meta["annotations"].(map[string]any)
		for name, value := range annotations { // order: a set
			text, _ := value.(string)
			switch {
			case isSecret(o.gvk) && name != lastApplied && !strings.HasPrefix(name, "kubernetes.io/service-account."):
				found["the annotation "+shorten(name)+" of Secrets"] = true
			case looksSecret(name, text), name == lastApplied && secretLine.MatchString(strings.ReplaceAll(text, ",", "\n")):
				found["the annotation "+shorten(name)+" of "+o.gvk.Kind+" objects"] = true
			}
		}
	}
	if o.gvk.Group == "" && o.gvk.Kind == "ConfigMap" {
		data, _ := content["data"].(map[string]any)
		for name, value := range data { // order: a set
			if text, _ := value.(string); looksSecret(name, text) || secretLine.MatchString(text) {
				found["the value of "+shorten(name)+" in ConfigMaps"] = true
			}
		}
	}
	if !isSecret(o.gvk) {
		delete(content, "metadata")
		walkStrings(content, "", func(kind, name, value string) {
			switch {
			case kind == "env" && looksSecret(name, value):
				found["the env value "+shorten(name)+" of "+o.gvk.Kind+" objects"] = true
			case kind != "env" && o.gvk.Kind != "ConfigMap" && (isSecretValue(value) || secretFlag.MatchString(value)):
				found["a value of "+shorten(name)+" in "+o.gvk.Kind+" objects"] = true
			}
		})
	}
	for what := range found { // order: counted in a map
		if s.found == nil {
			s.found, s.where = map[string]int{}, map[string]string{}
		}
		if s.found[what]++; s.where[what] == "" {
			s.where[what] = o.key
		}
	}
	return nil
}

// secretFlag matches an argument of a command that holds a credential.
var secretFlag = regexp.MustCompile(`(?i)^--?[a-z0-9-]*(passw(or)?d|secret|token|api-?key|access-?key)[ =]\S+`)

// walkStrings calls visit with every string below a value: with the kind "env" and the variable's name for what looks like the
// environment of a container, otherwise with the name of the field.
func walkStrings(value any, field string, visit func(kind, name, value string)) {
	switch v := value.(type) {
	case string:
		visit("", field, v)
	case []any:
		for _, item := range v {
			variable, _ := item.(map[string]any)
			name, isNamed := variable["name"].(string)
			text, hasValue := variable["value"].(string)
			if field == "env" && isNamed && hasValue {
				visit("env", name, text)
				continue
			}
			walkStrings(item, field, visit)
		}
	case map[string]any:
		for name, item := range v { // order: what is visited goes into a set
			walkStrings(item, name, visit)
		}
	}
}

// warnings are a line for each suspect, in their own order.
func (s *suspects) warnings() []string {
	const most = 20
	var all []string
	for i, what := range slices.Sorted(maps.Keys(s.found)) {
		if i == most {
			all = append(all, fmt.Sprintf("%d more kinds of values could be secret and are kept.", len(s.found)-most))
			break
		}
		all = append(all, fmt.Sprintf("It could be secret and is kept: %s (%s; versions: %d). --redact all hashes it.", what, shorten(s.where[what]), s.found[what]))
	}
	return all
}
