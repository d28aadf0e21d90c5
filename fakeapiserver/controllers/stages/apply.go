package stages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strings"
	"text/template"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"
)

// Outcome is what a Stage makes of an object.
type Outcome struct {
	// JSON is the object afterwards; nil if it stays as it is.
	JSON []byte
	// Delete says that the object is to be deleted, at once, as a kubelet does with a Pod whose containers have ended.
	Delete bool
	// EventType, Reason and Message are those of an event to be recorded; Reason is "" if there is none.
	EventType, Reason, Message string
}

// Apply applies the Stage to an object. typed is an empty object of its Go type, whose tags say how lists merge; nil for a custom
// resource, whose lists are replaced. started is when the run began.
func (s *Stage) Apply(object map[string]any, typed any, now, started time.Time) (Outcome, error) {
	out := Outcome{Delete: s.next.deletes, EventType: s.next.eventType, Reason: s.next.reason, Message: s.next.message}
	before, err := json.Marshal(object)
	if err != nil {
		return out, err
	}
	data := before
	for _, p := range s.next.patches {
		if data, err = p.apply(data, object, typed, now, started); err != nil {
			return out, fmt.Errorf("Stage %s: %w", s.Name, err)
		}
	}
	if data, err = s.next.finalize(data); err != nil {
		return out, fmt.Errorf("Stage %s: %w", s.Name, err)
	}
	if !bytes.Equal(data, before) {
		out.JSON = data
	}
	return out, nil
}

// apply patches JSON with what the template makes of the object.
func (p *patch) apply(data []byte, object map[string]any, typed any, now, started time.Time) ([]byte, error) {
	t, err := p.template.Clone()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := t.Funcs(functions(object, now, started)).Execute(&text, object); err != nil {
		return nil, err
	}
	change, err := yaml.YAMLToJSONStrict(text.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s makes no YAML of the object: %w", p.template.Name(), err)
	}
	if string(change) == "null" {
		return data, nil
	}
	if p.root != "" {
		if change, err = json.Marshal(map[string]json.RawMessage{p.root: change}); err != nil {
			return nil, err
		}
	}
	if typed == nil || p.merge {
		data, err = jsonpatch.MergePatch(data, change)
	} else {
		data, err = strategicpatch.StrategicMergePatch(data, change, typed)
	}
	if err != nil {
		return nil, fmt.Errorf("what %s makes of the object is no patch: %w", p.template.Name(), err)
	}
	return data, nil
}

// finalize adds and removes finalizers.
func (n *next) finalize(data []byte) ([]byte, error) {
	if !n.empty && len(n.add) == 0 && len(n.remove) == 0 {
		return data, nil
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil, errors.New("the object has no metadata")
	}
	var have []any
	if !n.empty {
		have, _ = meta["finalizers"].([]any)
	}
	have = slices.DeleteFunc(slices.Clone(have), func(v any) bool { s, _ := v.(string); return slices.Contains(n.remove, s) })
	for _, f := range n.add {
		if !slices.Contains(have, any(f)) {
			have = append(have, f)
		}
	}
	if len(have) == 0 {
		delete(meta, "finalizers")
	} else {
		meta["finalizers"] = have
	}
	return json.Marshal(object)
}

// newTemplate parses a template. Its functions are those of KWOK's that need no cluster, and JSON and Next, the number after another.
func newTemplate(field, text string) (*template.Template, error) {
	t, err := template.New(field).Funcs(functions(nil, time.Time{}, time.Time{})).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w; the functions are Quote, JSON, YAML, Next, Now, StartTime, Version, NodeName, NodeIP, NodeIPWith, NodePort, PodIP, PodIPWith, NodeConditions and those of Go's text/template", err)
	}
	return t, nil
}

// functions are those of templates. They depend on nothing but the object and the time.
func functions(object map[string]any, now, started time.Time) template.FuncMap {
	text := func(path ...string) string {
		var v any = object
		for _, p := range path {
			m, _ := v.(map[string]any)
			v = m[p]
		}
		s, _ := v.(string)
		return s
	}
	podIP := func(node string, hostNetwork bool, uid string) string {
		if hostNetwork {
			return nodeIP(node)
		}
		return address(netip.MustParsePrefix("10.244.0.0/16"), uid)
	}
	return template.FuncMap{
		"Quote":     func(v any) (string, error) { b, err := json.Marshal(fmt.Sprint(v)); return string(b), err },
		"YAML":      toYAML,
		"JSON":      func(v any) (string, error) { b, err := json.Marshal(v); return string(b), err },
		"Next":      func(n float64) int64 { return int64(n) + 1 },
		"Now":       func() string { return now.UTC().Format(time.RFC3339Nano) },
		"StartTime": func() string { return started.UTC().Format(time.RFC3339Nano) },
		"Version":   func() string { return "v1.37.0" },
		"NodeName":  func() string { return text("spec", "nodeName") },
		"NodePort":  func() int { return 10250 },
		"NodeIP": func() string {
			if node := text("spec", "nodeName"); node != "" {
				return nodeIP(node)
			}
			return nodeIP(text("metadata", "name"))
		},
		"NodeIPWith": nodeIP,
		"PodIP": func() string {
			spec, _ := object["spec"].(map[string]any)
			host, _ := spec["hostNetwork"].(bool)
			return podIP(text("spec", "nodeName"), host, text("metadata", "uid"))
		},
		"PodIPWith":      func(node string, hostNetwork bool, uid, _, _ string) string { return podIP(node, hostNetwork, uid) },
		"NodeConditions": NodeConditions,
	}
}

// toYAML renders a value, indented by that many steps of two spaces if that is said.
func toYAML(v any, indent ...int) (string, error) {
	b, err := yaml.Marshal(v)
	if err != nil || len(indent) == 0 || indent[0] <= 0 {
		return string(b), err
	}
	pad := "\n" + strings.Repeat("  ", min(indent[0], 32))
	return strings.ReplaceAll(pad+strings.TrimSuffix(string(b), "\n"), "\n", pad)[len(pad):], nil
}

func nodeIP(node string) string { return address(netip.MustParsePrefix("172.18.0.0/16"), node) }

// address returns an address of the prefix that follows from a name. Two names may have the same one.
func address(within netip.Prefix, name string) string {
	h := fnv.New32a()
	h.Write([]byte(name))
	a := within.Addr().As4()
	n := h.Sum32()%(1<<(32-within.Bits())-2) + 1
	a[2], a[3] = a[2]|byte(n>>8), a[3]|byte(n)
	return netip.AddrFrom4(a).String()
}

// NodeConditions are those of a node that is well, Ready first.
func NodeConditions() []map[string]string {
	return []map[string]string{
		{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status"},
		{"type": "MemoryPressure", "status": "False", "reason": "KubeletHasSufficientMemory", "message": "kubelet has sufficient memory available"},
		{"type": "DiskPressure", "status": "False", "reason": "KubeletHasNoDiskPressure", "message": "kubelet has no disk pressure"},
		{"type": "PIDPressure", "status": "False", "reason": "KubeletHasSufficientPID", "message": "kubelet has sufficient PID available"},
	}
}
