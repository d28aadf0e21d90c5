package probe

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// revisionSpan is the range above the probe's first revision in which a number in a message about resourceVersions
// counts as one. shownString is the length of the longest string that is shown whole.
const (
	revisionSpan = 100_000
	shownString  = 2_000
)

var (
	uuidText    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timeText    = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z`)
	addressText = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)
	oldestText  = regexp.MustCompile(`(too old resource version: \S+ \()[0-9]+\)`)
	schemeText  = regexp.MustCompile(`in scheme "[^"]*"`)
	mentions    = []*regexp.Regexp{
		regexp.MustCompile(`([Rr]esource version: )([0-9]+)`),
		regexp.MustCompile(`(current: )([0-9]+)`),
		regexp.MustCompile(`(ResourceVersion in object meta: )([0-9]+)`),
		regexp.MustCompile(`(ResourceVersion in (?:the precondition|record) \()([0-9]+)`),
		regexp.MustCompile(`(\\*"resourceVersion\\*":\\*")([0-9]+)`),
	}
	suffix = regexp.MustCompile(`^[bcdfghjklmnpqrstvwxz2456789]{5}$`)
	age    = regexp.MustCompile(`^[0-9]+(s|ms)$`)
)

// ownTimes is the year of the times that probes send, which are not masked.
const ownTimes = "1999-"

// normaliser replaces everything that may differ between two servers. It remembers the uids and generated names of one probe.
type normaliser struct {
	base    int64
	brief   bool
	managed bool
	any     bool // revisions are not distinguished
	builtin bool // the answers are about built-in kinds
	uids    map[string]string
	names   map[string]string
	order   []string
	// prefixes are the generateNames that were sent.
	prefixes []*regexp.Regexp
	// requests is what was sent; chosen names what the server chose, and counts counts it by kind.
	requests strings.Builder
	chosen   map[string]string
	counts   map[string]int
}

func newNormaliser(p Probe, base int64) *normaliser {
	return &normaliser{
		base: base, brief: p.Brief, managed: p.ManagedFields, any: p.AnyRevision, builtin: p.Builtin,
		uids: map[string]string{}, names: map[string]string{}, chosen: map[string]string{}, counts: map[string]int{},
	}
}

// decode decodes a JSON document, preserving numbers as written.
func decode(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("more than one JSON document")
	}
	return v, nil
}

// document normalises a decoded body or event object.
func (n *normaliser) document(v any) any {
	n.learn(v)
	v = inOrder(n.value("", v))
	if n.brief {
		v = briefly(v)
	}
	return v
}

// learn records the names that a server generated.
func (n *normaliser) learn(v any) {
	switch v := v.(type) {
	case map[string]any:
		prefix, _ := v["generateName"].(string)
		name, _ := v["name"].(string)
		if rest, found := strings.CutPrefix(name, prefix); prefix != "" && found && suffix.MatchString(rest) {
			if _, known := n.names[name]; !known {
				n.names[name] = fmt.Sprintf("%s<generated %d>", prefix, len(n.names)+1)
				n.order = append(n.order, name)
			}
		}
		for _, key := range sortedKeys(v) {
			n.learn(v[key])
		}
	case []any:
		for _, item := range v {
			n.learn(item)
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// generatedBase is the length to which a server truncates a generateName, leaving room for five characters in a label.
const generatedBase = 58

var sentPrefix = regexp.MustCompile(`generateName: ?"?([^",}]+)`)

// sent records the generateNames of a request body, which a refusal mentions with a suffix.
func (n *normaliser) sent(body string) {
	n.requests.WriteString(body + "\n")
	for _, m := range sentPrefix.FindAllStringSubmatch(body, -1) {
		prefix := m[1][:min(len(m[1]), generatedBase)]
		n.prefixes = append(n.prefixes, regexp.MustCompile("("+regexp.QuoteMeta(prefix)+")[bcdfghjklmnpqrstvwxz2456789]{5}\\b"))
	}
}

// value normalises the value of key.
func (n *normaliser) value(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range sortedKeys(v) {
			out[k] = n.value(k, v[k])
		}
		return out
	case []any:
		if key == "managedFields" && !n.managed {
			return managers(v)
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = n.value(key, item)
		}
		switch key {
		case "cells":
			n.maskAges(out)
		case "managedFields":
			sort.SliceStable(out, func(i, j int) bool { return managerLine(out[i]) < managerLine(out[j]) })
		}
		return out
	case string:
		return n.text(key, v)
	case json.Number:
		return n.port(key, v)
	}
	return v
}

// managers formats each managedFields entry as a line. Entries are sorted: a server orders them by the second in which
// they were written.
func managers(entries []any) any {
	out := make([]any, len(entries))
	for i, entry := range entries {
		out[i] = managerLine(entry)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].(string) < out[j].(string) })
	return out
}

// managerLine is "manager operation subresource", an apply's missing time included (S4).
// ownManagers are the names under which servers themselves write: a real one uses the name of the program that links it.
var ownManagers = map[string]bool{"kube-apiserver": true, filepath.Base(os.Args[0]): true}

func managerLine(entry any) string {
	m, _ := entry.(map[string]any)
	line := fmt.Sprintf("%v %v", m["manager"], m["operation"])
	if ownManagers[fmt.Sprint(m["manager"])] {
		line = fmt.Sprintf("<apiserver> %v", m["operation"])
	}
	if sub, found := m["subresource"]; found {
		line += fmt.Sprintf(" %v", sub)
	}
	if _, found := m["time"]; !found {
		line += " untimed"
	}
	return line
}

// maskAges replaces the cells of a table that show an age.
func (n *normaliser) maskAges(cells []any) {
	for i, cell := range cells {
		if text, ok := cell.(string); ok && (age.MatchString(text) || n.builtin && longAge.MatchString(text)) {
			cells[i] = "<age>"
		}
	}
}

// text normalises the string value of key.
func (n *normaliser) text(key, s string) any {
	switch key {
	case "resourceVersion":
		return n.revision(s)
	case "continue":
		if s != "" {
			return n.token(s)
		}
	}
	s = uuidText.ReplaceAllStringFunc(s, n.uid)
	s = timeText.ReplaceAllStringFunc(s, maskTime)
	s = addressText.ReplaceAllString(s, "<address>")
	// How far back a watch cache reaches is up to the server.
	s = oldestText.ReplaceAllString(s, "${1}<oldest>)")
	s = schemeText.ReplaceAllString(s, "in a scheme")
	if n.builtin {
		s = n.allocated(key, s)
	}
	for _, name := range n.order {
		s = strings.ReplaceAll(s, name, n.names[name])
	}
	for _, prefix := range n.prefixes {
		s = prefix.ReplaceAllString(s, "${1}<generated>")
	}
	for _, mention := range mentions {
		s = mention.ReplaceAllStringFunc(s, func(match string) string {
			parts := mention.FindStringSubmatch(match)
			return parts[1] + n.revision(parts[2])
		})
	}
	if len(s) > shownString {
		s = fmt.Sprintf("%s… <%d bytes>", s[:60], len(s))
	}
	return s
}

func (n *normaliser) uid(s string) string {
	symbol, known := n.uids[s]
	if !known {
		symbol = fmt.Sprintf("<uid %d>", len(n.uids)+1)
		n.uids[s] = symbol
	}
	return symbol
}

func maskTime(s string) string {
	switch {
	case strings.HasPrefix(s, ownTimes):
		return s
	case strings.Contains(s, "."):
		return "<microtime>"
	}
	return "<time>"
}

// revision formats a resourceVersion as an offset from the probe's first one.
func (n *normaliser) revision(s string) string {
	rv, err := strconv.ParseInt(s, 10, 64)
	if n.builtin && err == nil && 1 < rv && rv < n.base {
		return "<before>" // in which order a fresh cluster was filled
	}
	if err != nil || rv < n.base || rv > n.base+revisionSpan {
		return s
	}
	if n.any {
		return "R+?"
	}
	return fmt.Sprintf("R+%d", rv-n.base)
}

// token formats the content of a continue token.
func (n *normaliser) token(s string) string {
	data, err := base64.RawURLEncoding.DecodeString(s)
	var token continueToken
	if err != nil || json.Unmarshal(data, &token) != nil {
		return "<opaque token>"
	}
	return fmt.Sprintf("<token rv=%s start=%q>", n.revision(strconv.FormatInt(token.RV, 10)), token.Start)
}

// briefly shortens the objects of a document to a line each. Statuses, tables and the like are unchanged.
func briefly(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if items, ok := m["items"].([]any); ok {
		for i, item := range items {
			items[i] = briefLine(item)
		}
		return m
	}
	if event, ok := m["object"].(map[string]any); ok && m["type"] != "ERROR" {
		return fmt.Sprintf("%v %v", m["type"], briefLine(event))
	}
	if meta, ok := m["metadata"].(map[string]any); ok && meta["name"] != nil {
		return briefLine(m)
	}
	return m
}

// briefLine returns an object's name, resourceVersion and everything that a probe can set.
func briefLine(v any) any {
	m, _ := v.(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	if meta == nil {
		return v
	}
	name := fmt.Sprint(meta["name"])
	if namespace, found := meta["namespace"]; found {
		name = fmt.Sprintf("%v/%s", namespace, name)
	}
	line := fmt.Sprintf("%s %v", name, meta["resourceVersion"])
	if meta["name"] == nil {
		line = fmt.Sprintf("%v", meta["resourceVersion"])
	}
	for _, key := range []string{"generation", "labels", "annotations", "finalizers", "deletionTimestamp"} {
		if value, found := meta[key]; found {
			line += " " + key + "=" + compact(value)
		}
	}
	for _, key := range []string{"spec", "status"} {
		if value, found := m[key]; found {
			line += " " + key + "=" + compact(value)
		}
	}
	return line
}

func compact(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(data))
}
