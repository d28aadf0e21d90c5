package crd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apitypes "k8s.io/apimachinery/pkg/types"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/render"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
)

// The goldens are what a real apiserver answered to the probes of the conformance module. The probes about single objects are
// played here over a map, to hold the write path against it without a server: every probe all of whose steps are writes and
// reads of single objects is played, except those in notHere.

const conformance = "../../../conformance"

// notHere are probes that ask for more than the write path, by the reason.
var notHere = map[string]string{
	"create/size":                        "limits are the server's",
	"create/subresource-path":            "paths are the server's",
	"create/namespace-mismatch":          "paths are the server's",
	"update/collection":                  "paths are the server's",
	"status/extra-path":                  "paths are the server's",
	"status/of-resource-without":         "paths are the server's",
	"get/absent":                         "paths are the server's",
	"get/watch-parameter-ignored":        "parameters of reads are the server's",
	"get/unknown-parameters":             "parameters of reads are the server's",
	"http/methods-on-absent-subresource": "paths are the server's",
	"edge/names-in-paths":                "paths are the server's",
	"edge/status-not-a-subresource":      "paths are the server's",
	"http/content-types":                 "connections are the server's",
	"http/protobuf-and-validation":       "connections are the server's",
	"patch/json-without-value":           "connections are the server's",
	"patch/types-and-subresources":       "paths are the server's",
	"metadata/names":                     "generated names are masked only here and there",
	"scale/watch-and-list":               "parameters of reads are the server's",
}

// play is one probe at work on a store of its own.
type play struct {
	t        *testing.T
	registry *types.Registry
	writer   *patch.Writer
	objects  map[string]runtime.Object
	revision int64
	clock    time.Time
	uids     int
	saved    map[string]runtime.Object
	norm     *normaliser
}

const baseRevision = 1000

type answer struct {
	code        int
	object      runtime.Object // what was answered, if it is no error
	body        []byte
	contentType string
	warnings    []string
}

// newRegistry has the custom resources of the conformance module.
func newRegistry(t testing.TB) *types.Registry {
	t.Helper()
	f, err := os.Open(filepath.Join(conformance, "resources/crds.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	definitions, err := crd.LoadManifests(f)
	if err != nil {
		t.Fatal(err)
	}
	resources, err := crd.Compile(definitions...)
	if err != nil {
		t.Fatal(err)
	}
	registry := types.NewRegistry()
	if err := registry.Add(resources...); err != nil {
		t.Fatal(err)
	}
	return registry
}

func newPlay(t *testing.T, managed bool) *play {
	t.Helper()
	return &play{
		t: t, registry: newRegistry(t), writer: patch.NewWriter(), objects: map[string]runtime.Object{}, revision: baseRevision,
		clock: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), saved: map[string]runtime.Object{},
		norm: &normaliser{managed: managed, uids: map[string]string{}},
	}
}

// step is a line of a probe.
type step struct {
	text, save, verb, target, body string
	unseen                         bool
	headers                        http.Header
}

var (
	saveWord   = regexp.MustCompile(`^([a-z][A-Za-z0-9]*) = `)
	headerWord = regexp.MustCompile(`^\[([A-Za-z-]+): ?([^\]]*)\]\s*`)
	variable   = regexp.MustCompile(`\$\{([^}]*)\}`)
)

func parseStep(line string) step {
	s := step{text: line, headers: http.Header{}}
	rest := line
	if after, found := strings.CutPrefix(rest, "~"); found {
		s.unseen, rest = true, strings.TrimSpace(after)
	}
	if m := saveWord.FindStringSubmatch(rest); m != nil {
		s.save, rest = m[1], rest[len(m[0]):]
	}
	s.verb, rest, _ = strings.Cut(rest, " ")
	s.target, rest, _ = strings.Cut(strings.TrimSpace(rest), " ")
	for m := headerWord.FindStringSubmatch(rest); m != nil; m = headerWord.FindStringSubmatch(rest) {
		s.headers.Set(m[1], m[2])
		rest = rest[len(m[0]):]
	}
	s.body = strings.TrimSpace(rest)
	return s
}

var contentTypes = map[string]string{
	"json": "application/json-patch+json", "merge": "application/merge-patch+json",
	"strategic": "application/strategic-merge-patch+json", "apply": "application/apply-patch+yaml",
	"create": types.JSON, "put": types.JSON, "POST": types.JSON, "PUT": types.JSON, "PATCH": types.JSON, "get": "", "list": "", "revision": "",
}

// expand replaces the variables of a script.
func (p *play) expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(match string) string {
		expr := match[2 : len(match)-1]
		if rest, ok := strings.CutPrefix(expr, "repeat:"); ok {
			what, count, _ := strings.Cut(rest, ":")
			n, err := strconv.Atoi(count)
			if err != nil {
				p.t.Fatal(err)
			}
			return strings.Repeat(what, n)
		}
		name, rest, _ := strings.Cut(expr, ".")
		obj := p.saved[name]
		if obj == nil {
			return ""
		}
		m, err := meta.Accessor(obj)
		if err != nil {
			p.t.Fatal(err)
		}
		field, delta, _ := strings.Cut(rest, "+")
		switch field {
		case "uid":
			return string(m.GetUID())
		case "name":
			return m.GetName()
		}
		rv, _ := strconv.ParseInt(m.GetResourceVersion(), 10, 64)
		d, _ := strconv.ParseInt(delta, 10, 64)
		return strconv.FormatInt(rv+d, 10)
	})
}

// target of a step: RESOURCE[@NAMESPACE][/NAME[/SUBRESOURCE]][?QUERY].
type target struct {
	resource                     *types.Resource
	namespace, name, subresource string
	query                        url.Values
}

func (p *play) parse(text string) target {
	path, query, _ := strings.Cut(text, "?")
	parts := strings.SplitN(path, "/", 3)
	plural, namespace, given := strings.Cut(parts[0], "@")
	var t target
	for _, r := range p.registry.All() {
		if r.Plural == plural {
			t.resource = r
		}
	}
	if t.resource == nil {
		p.t.Fatalf("no resource %q", plural)
	}
	if t.namespace = namespace; !given && t.resource.Namespaced {
		t.namespace = "ns1"
	}
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = parts[2]
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		p.t.Fatal(err)
	}
	t.query = values
	return t
}

// body of a step: flow YAML sent as JSON, or a quoted string sent as it is.
func (p *play) body(s step, t target) []byte {
	text := p.expand(s.body)
	if text == "" {
		return nil
	}
	if strings.HasPrefix(text, `"`) {
		raw, err := strconv.Unquote(text)
		if err != nil {
			p.t.Fatal(err)
		}
		return []byte(raw)
	}
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		p.t.Fatal(err)
	}
	if m, ok := v.(map[string]any); ok && (s.verb == "create" || s.verb == "put" || s.verb == "apply") {
		kind := t.resource.KindOf(t.subresource)
		setDefault(m, "apiVersion", kind.GroupVersion().String())
		setDefault(m, "kind", kind.Kind)
		if t.name != "" {
			setDefault(m, "metadata", map[string]any{})
			if md, ok := m["metadata"].(map[string]any); ok {
				setDefault(md, "name", t.name)
			}
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		p.t.Fatal(err)
	}
	return data
}

func setDefault(m map[string]any, key string, value any) {
	if _, found := m[key]; !found {
		m[key] = value
	}
}

func key(t target, name string) string { return t.resource.Plural + "/" + t.namespace + "/" + name }

// do is what a server makes of a request, around the write path.
func (p *play) do(s step) answer {
	t := p.parse(p.expand(s.target))
	agent := "probe/1"
	if s.headers["User-Agent"] != nil {
		agent = s.headers.Get("User-Agent")
	}
	// All of a probe happens in one second, as when it was recorded: an apply that changes nothing but the order of managedFields
	// by seconds does raise the revision.
	p.uids++
	q := patch.Request{
		Resource: t.resource, Subresource: t.subresource, Namespace: t.namespace, Name: t.name, UserAgent: agent,
		System: types.System{UID: apitypes.UID(fmt.Sprintf("%08d-0000-4000-8000-000000000000", p.uids)), Now: p.clock, Suffix: "bcdf" + string(types.SuffixAlphabet[p.uids%20])},
	}
	ask := render.Ask{Accept: types.JSON, UserAgent: agent, Query: t.query}
	if s.headers["Accept"] != nil {
		ask.Accept = s.headers.Get("Accept")
	}
	if _, err := ask.Negotiate(t.resource, t.subresource); err != nil {
		return p.failed(ask, err)
	}
	contentType := contentTypes[s.verb]
	if s.headers.Get("Content-Type") != "" {
		contentType = s.headers.Get("Content-Type")
	}
	data := p.body(s, t)
	if data == nil {
		contentType = ""
	}
	live := p.objects[key(t, t.name)]
	var result patch.Result
	var err error
	switch s.verb {
	case "get":
		if live == nil {
			return p.failed(ask, apierrors.NewNotFound(t.resource.GroupResource(), t.name))
		}
		if t.subresource == types.Scale {
			if _, found, err := t.resource.ReadScale(live); err == nil && !found {
				return p.failed(ask, t.resource.ErrNoReplicas())
			}
		}
		return p.shown(ask, t, live, http.StatusOK, nil)
	case "list":
		return p.list(ask, t)
	case "create", "POST":
		q.Name = ""
		o := &metav1.CreateOptions{}
		p.decode(t.query, o)
		result, err = p.writer.Create(q, types.Body{Data: data, ContentType: contentType}, o)
	case "put", "PUT":
		o := &metav1.UpdateOptions{}
		p.decode(t.query, o)
		result, err = p.writer.Update(q, live, types.Body{Data: data, ContentType: contentType}, o)
	default:
		if s.verb == "apply" && t.query["fieldManager"] == nil {
			t.query.Set("fieldManager", "applier")
		}
		o := &metav1.PatchOptions{}
		p.decode(t.query, o)
		result, err = p.writer.Patch(q, live, contentType, data, o)
	}
	if err != nil {
		a := p.failed(ask, err)
		a.warnings = result.Warnings
		return a
	}
	return p.commit(ask, t, live, result)
}

// list is every object of a namespace, or of all.
func (p *play) list(ask render.Ask, t target) answer {
	var items []runtime.Object
	for _, k := range slices.Sorted(maps.Keys(p.objects)) {
		if strings.HasPrefix(k, key(t, "")) {
			items = append(items, p.objects[k])
		}
	}
	list, err := render.List(t.resource, items, metav1.ListMeta{ResourceVersion: strconv.FormatInt(p.revision, 10)})
	if err != nil {
		p.t.Fatal(err)
	}
	return p.shown(ask, t, list, http.StatusOK, nil)
}

func (p *play) decode(query url.Values, into runtime.Object) {
	if err := metainternalscheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, into); err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) commit(ask render.Ask, t target, live runtime.Object, result patch.Result) answer {
	m, err := meta.Accessor(result.Object)
	if err != nil {
		p.t.Fatal(err)
	}
	k := key(t, m.GetName())
	switch {
	case result.Created && p.objects[k] != nil:
		a := p.failed(ask, apierrors.NewAlreadyExists(t.resource.GroupResource(), m.GetName()))
		a.warnings = result.Warnings
		return a
	case result.Unchanged:
		return p.shown(ask, t, live, http.StatusOK, result.Warnings)
	}
	if len(t.query["dryRun"]) == 0 {
		p.revision++
		m.SetResourceVersion(strconv.FormatInt(p.revision, 10))
		p.objects[k] = result.Object
	}
	code := http.StatusOK
	if result.Created {
		code = http.StatusCreated
	}
	return p.shown(ask, t, result.Object, code, result.Warnings)
}

func (p *play) shown(ask render.Ask, t target, obj runtime.Object, code int, warnings []string) answer {
	shown := obj
	if t.subresource == types.Scale {
		scale, _, err := t.resource.ReadScale(obj)
		if err != nil {
			return p.failed(ask, err)
		}
		shown = scale
	}
	f, err := ask.Negotiate(t.resource, t.subresource)
	if err != nil {
		return p.failed(ask, err)
	}
	view, err := render.NewView(f, t.resource, t.subresource, t.query)
	if err != nil {
		return p.failed(ask, err)
	}
	if shown, err = view.Of(shown, p.clock); err != nil {
		return p.failed(ask, err)
	}
	data, err := f.Encode(shown)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer{code, obj, data, f.ContentType(), warnings}
}

func (p *play) failed(ask render.Ask, err error) answer {
	a := ask.Error(err)
	return answer{code: a.Code, body: a.Body, contentType: a.ContentType}
}

// normaliser makes answers comparable, as the conformance module does.
type normaliser struct {
	managed  bool
	uids     map[string]string
	prefixes []string
}

var (
	uuidText   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timeText   = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z`)
	schemeText = regexp.MustCompile(`in scheme "[^"]*"`)
	age        = regexp.MustCompile(`^[0-9]+(s|ms)$`)
	small      = regexp.MustCompile(`<earlier>|\b[0-9]{1,3}\b`)
	number     = regexp.MustCompile(`\b[0-9]+\b`)
	aboutRVs   = regexp.MustCompile(`(?i)resource ?versions?|in object meta`)
	suffixed   = regexp.MustCompile(`(g-|Bad_|g{58})(bcdf[a-z0-9]|ggggg\b)`)
	generated  = regexp.MustCompile(`(g*)<generated( [0-9]+)?>`)
)

func (n *normaliser) value(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			out[k] = n.value(k, v[k])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = n.value(key, v[i])
			if key == "managedFields" && !n.managed {
				out[i] = managerLine(v[i])
			}
		}
		if key == "cells" {
			for i, cell := range out {
				if text, ok := cell.(string); ok && age.MatchString(text) {
					out[i] = "<age>"
				}
			}
		}
		if key == "managedFields" {
			sort.SliceStable(out, func(i, j int) bool { return managerLine(out[i]) < managerLine(out[j]) })
		}
		return out
	case string:
		return n.text(key, v)
	}
	return v
}

func managerLine(entry any) string {
	m, ok := entry.(map[string]any)
	if !ok {
		return fmt.Sprint(entry)
	}
	line := fmt.Sprintf("%v %v", m["manager"], m["operation"])
	if sub, found := m["subresource"]; found {
		line += fmt.Sprintf(" %v", sub)
	}
	if _, found := m["time"]; !found {
		line += " untimed"
	}
	return line
}

func (n *normaliser) text(key, s string) any {
	if key == "resourceVersion" {
		return relative(s)
	}
	s = uuidText.ReplaceAllStringFunc(s, func(uid string) string {
		if _, known := n.uids[uid]; !known {
			n.uids[uid] = fmt.Sprintf("<uid %d>", len(n.uids)+1)
		}
		return n.uids[uid]
	})
	s = timeText.ReplaceAllStringFunc(s, func(t string) string {
		if strings.HasPrefix(t, "1999-") {
			return t
		}
		return "<time>"
	})
	s = schemeText.ReplaceAllString(s, "in a scheme")
	s = suffixed.ReplaceAllString(s, "$1<generated>")
	if aboutRVs.MatchString(s) {
		s = number.ReplaceAllStringFunc(s, func(x string) string {
			return relative(x)
		})
	}
	if len(s) > 2000 {
		s = fmt.Sprintf("%s… <%d bytes>", s[:60], len(s))
	}
	return s
}

func relative(s string) string {
	rv, err := strconv.ParseInt(s, 10, 64)
	if err != nil || rv < baseRevision || rv > baseRevision+100_000 {
		return s
	}
	return fmt.Sprintf("R+%d", rv-baseRevision)
}

// plain is a body as JSON has it, numbers as written.
func plain(t *testing.T, a answer) any {
	t.Helper()
	data := a.body
	switch a.contentType {
	case types.Protobuf:
		return "<binary>"
	case types.YAML:
		var err error
		if data, err = sigsyaml.YAMLToJSON(data); err != nil {
			t.Fatal(err)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// unordered sorts what a real server takes from maps: causes, and the list of them in the message.
func unordered(v any) any {
	m, ok := v.(map[string]any)
	if !ok || m["kind"] != "Status" {
		return v
	}
	details, _ := m["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	sort.SliceStable(causes, func(i, j int) bool { return fmt.Sprint(causes[i]) < fmt.Sprint(causes[j]) })
	if message, ok := m["message"].(string); ok && len(causes) > 1 {
		head, rest, _ := strings.Cut(message, " is invalid: [")
		words := strings.Split(strings.TrimSuffix(rest, "]"), ", ")
		sort.Strings(words)
		m["message"] = head + strings.Join(words, ", ")
	}
	return m
}

// loose hides small numbers in texts about resourceVersions: whether the recorder took them for revisions depends on how many
// writes came before.
func loose(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = loose(v[k])
		}
	case []any:
		for i := range v {
			v[i] = loose(v[i])
		}
	case string:
		if aboutRVs.MatchString(v) {
			return small.ReplaceAllString(v, "<n>")
		}
	}
	return v
}

type golden struct {
	Steps []struct {
		Do      string            `json:"do"`
		Code    int               `json:"code"`
		Headers map[string]string `json:"headers"`
		Body    any               `json:"body"`
	} `json:"steps"`
}

func readGolden(t *testing.T, name string) golden {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(conformance, "testdata/golden", name+".json"))
	if err != nil {
		t.Fatalf("the probe %s has no golden: record it with a real server (go -C conformance run . --help): %v", name, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var g golden
	if err := decoder.Decode(&g); err != nil {
		t.Fatal(err)
	}
	return g
}

// probes of the catalogue that can be played here.
func probes(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(conformance, "catalogue/*.probe"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no probes: %v", err)
	}
	all := map[string][]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if after, ok := strings.CutPrefix(line, "probe "); ok {
				name = after
			} else if line != "" && !strings.HasPrefix(line, "#") {
				all[name] = append(all[name], line)
			}
		}
	}
	return all
}

func playable(header string, lines []string) bool {
	name, _, _ := strings.Cut(header, " ")
	if notHere[name] != "" {
		return false
	}
	for _, line := range lines {
		s := parseStep(line)
		_, known := contentTypes[s.verb]
		plainTarget := !strings.HasPrefix(s.target, "/") && !strings.HasPrefix(s.target, "*")
		if !known || !plainTarget || strings.Contains(header, "!brief") || strings.Contains(header, "!form") || strings.Contains(s.target, "limit=") ||
			strings.Contains(s.target, "Selector=") || strings.Contains(s.target, "resourceVersion=") || strings.Contains(s.target, "continue=") || strings.Contains(s.target, "nonsense") {
			return false
		}
	}
	return true
}

// The least number of probes that are played: fewer means that the catalogue is not read as it should be.
const leastProbes = 50

func TestGoldens(t *testing.T) {
	played := 0
	catalogue := probes(t)
	for _, header := range slices.Sorted(maps.Keys(catalogue)) {
		lines := catalogue[header]
		if !playable(header, lines) {
			continue
		}
		played++
		name, _, _ := strings.Cut(header, " ")
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, strings.Contains(header, "!managedFields"))
			g := readGolden(t, name)
			for _, line := range lines {
				s := parseStep(line)
				var got answer
				if s.verb != "revision" {
					got = p.do(s)
				}
				if got.object != nil && s.save != "" && got.code < 300 {
					p.saved[s.save] = got.object
				}
				if s.unseen {
					p.norm.value("", plain(t, got)) // learns uids
					continue
				}
				want := g.Steps[0]
				g.Steps = g.Steps[1:]
				if s.verb == "revision" {
					if have := relative(strconv.FormatInt(p.revision, 10)); have != want.Body {
						t.Errorf("%s: %s, want %v", line, have, want.Body)
					}
					continue
				}
				have := unordered(p.norm.value("", picked(plain(t, got), s.headers.Get("Pick"))))
				wanted := unordered(want.Body)
				if text, err := json.Marshal(wanted); err == nil {
					wanted = nil
					decoder := json.NewDecoder(bytes.NewReader(generated.ReplaceAll(unescaped(text), []byte("$1<generated>"))))
					decoder.UseNumber()
					if err := decoder.Decode(&wanted); err != nil {
						t.Fatal(err)
					}
				}
				if got.code != want.Code {
					t.Errorf("%s: code %d, want %d", line, got.code, want.Code)
				}
				if diff := cmp.Diff(loose(wanted), loose(have)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", line, diff)
				}
				if want, ok := want.Headers["Content-Type"]; ok && want != got.contentType || !ok && got.contentType != types.JSON {
					t.Errorf("%s: content type %s, want %s", line, got.contentType, want)
				}
				if have := warningHeader(got.warnings); have != want.Headers["Warning"] {
					t.Errorf("%s: warnings %s, want %s", line, have, want.Headers["Warning"])
				}
			}
		})
	}
	if played < leastProbes {
		t.Errorf("only %d probes were played", played)
	}
}

// picked is the part of a body that a probe asks for.
func picked(v any, path string) any {
	for _, name := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		if m, ok := v.(map[string]any); ok && path != "" {
			v = m[name]
		}
	}
	return v
}

// unescaped undoes what the JSON encoder does to angle brackets.
func unescaped(text []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`\u003c`), []byte("<")), []byte(`\u003e`), []byte(">"))
}

func warningHeader(warnings []string) string {
	var all []string
	for _, w := range warnings {
		all = append(all, "299 - "+strconv.Quote(w))
	}
	return strings.Join(all, "; ")
}
