package stages

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// APIVersion and Kind are those of a Stage.
const (
	APIVersion = "kwok.x-k8s.io/v1alpha1"
	Kind       = "Stage"
)

const faultLabel = "informersim.io/fault"

// Stage is a step in the life of an object. It is immutable.
type Stage struct {
	Name string
	// Of is the kind of objects that it is for.
	Of schema.GroupKind
	// Fault says that it is something that goes wrong, by the label informersim.io/fault: once faults are to stop, it is no longer chosen.
	Fault bool

	labels, annotations labels.Selector
	expressions         []requirement
	weight              number
	delay, jitter       span
	next                next
	immediate           bool
}

// Immediate reports whether the stage after this one, if it takes no time, is part of the same change.
func (s *Stage) Immediate() bool { return s.immediate }

// next is what an object is like afterwards.
type next struct {
	patches           []patch
	add, remove       []string // finalizers
	empty, deletes    bool
	eventType, reason string
	message           string
}

// patch is a change of an object.
type patch struct {
	root     string // where the template's result belongs; "" for the object itself
	merge    bool   // a JSON merge patch instead of a strategic one
	template *template.Template
}

// manifest is a Stage as it is written.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name        string            `json:"name"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		ResourceRef struct {
			APIGroup string `json:"apiGroup"`
			Kind     string `json:"kind"`
		} `json:"resourceRef"`
		Selector *struct {
			MatchLabels      map[string]string     `json:"matchLabels"`
			MatchAnnotations map[string]string     `json:"matchAnnotations"`
			MatchExpressions []manifestRequirement `json:"matchExpressions"`
		} `json:"selector"`
		Weight     int       `json:"weight"`
		WeightFrom *fromExpr `json:"weightFrom"`
		Delay      *struct {
			DurationMilliseconds       *int64    `json:"durationMilliseconds"`
			DurationFrom               *fromExpr `json:"durationFrom"`
			JitterDurationMilliseconds *int64    `json:"jitterDurationMilliseconds"`
			JitterDurationFrom         *fromExpr `json:"jitterDurationFrom"`
		} `json:"delay"`
		Next struct {
			Event *struct {
				Type    string `json:"type"`
				Reason  string `json:"reason"`
				Message string `json:"message"`
			} `json:"event"`
			Finalizers *struct {
				Add    []finalizer `json:"add"`
				Remove []finalizer `json:"remove"`
				Empty  bool        `json:"empty"`
			} `json:"finalizers"`
			Delete            bool   `json:"delete"`
			StatusTemplate    string `json:"statusTemplate"`
			StatusSubresource string `json:"statusSubresource"`
			StatusPatchAs     any    `json:"statusPatchAs"`
			Patches           []struct {
				Subresource   string `json:"subresource"`
				Root          string `json:"root"`
				Template      string `json:"template"`
				Type          string `json:"type"`
				Impersonation any    `json:"impersonation"`
			} `json:"patches"`
		} `json:"next"`
		ImmediateNextStage bool `json:"immediateNextStage"`
	} `json:"spec"`
}

type (
	finalizer struct {
		Value string `json:"value"`
	}
	fromExpr struct {
		ExpressionFrom string `json:"expressionFrom"`
	}
	manifestRequirement struct {
		Key      string   `json:"key"`
		Operator string   `json:"operator"`
		Values   []string `json:"values"`
	}
)

//go:embed sets/*.yaml
var sets embed.FS

// DefaultSet is the set that there is where nodes are and nobody names stages.
const DefaultSet = "pod"

// Set returns a set of Stages by name: "pod", how Pods live on a node; "pod-faults", what may go wrong with them; "node-faults", nodes
// that stop to answer and come back; "workload", how the status of Deployments, Jobs and others follows their spec where no controller of
// theirs is; "workload-faults", what may go wrong with those.
func Set(name string) ([]*Stage, error) {
	file := "sets/" + name + ".yaml"
	data, err := sets.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("there is no set of stages %q: there are pod, pod-faults, node-faults, workload and workload-faults", name)
	}
	return Parse(name+".yaml", data)
}

// Parse parses YAML or JSON with any number of Stages. Errors name the file, the line at which the Stage begins, and the field.
func Parse(file string, data []byte) ([]*Stage, error) {
	var all []*Stage
	for _, d := range documents(data) {
		s, err := parse(d.text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, d.line, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// document is one of the documents of a YAML file.
type document struct {
	line int // of the first thing it says
	text []byte
}

// documents splits a file, and leaves out documents that say nothing.
func documents(data []byte) (all []document) {
	d := document{}
	end := func() {
		if d.line > 0 {
			all = append(all, d)
		}
		d = document{}
	}
	for i, line := range bytes.SplitAfter(data, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("---")) {
			end()
			continue
		}
		if said := bytes.TrimSpace(line); d.line == 0 && len(said) > 0 && said[0] != '#' {
			d.line = i + 1
		}
		d.text = append(d.text, line...)
	}
	end()
	return all
}

func parse(doc []byte) (*Stage, error) {
	var m manifest
	if err := yaml.UnmarshalStrict(doc, &m); err != nil {
		return nil, fmt.Errorf("a Stage cannot be read: %w", err)
	}
	name := m.Metadata.Name
	switch {
	case m.APIVersion != APIVersion || m.Kind != Kind:
		return nil, fmt.Errorf("apiVersion %q, kind %q: want %s, %s", m.APIVersion, m.Kind, APIVersion, Kind)
	case name == "":
		return nil, errors.New("a Stage needs metadata.name")
	}
	s, err := m.stage(name)
	if err != nil {
		return nil, fmt.Errorf("Stage %s: %w", name, err)
	}
	return s, nil
}

func (m *manifest) stage(name string) (*Stage, error) {
	spec := &m.Spec
	if spec.ResourceRef.Kind == "" {
		return nil, errors.New("spec.resourceRef.kind is missing")
	}
	s := &Stage{Name: name, Fault: m.Metadata.Labels[faultLabel] == "true", Of: groupKind(spec.ResourceRef.APIGroup, spec.ResourceRef.Kind), labels: labels.Everything(), annotations: labels.Everything()}
	if sel := spec.Selector; sel != nil {
		s.labels, s.annotations = labels.SelectorFromSet(sel.MatchLabels), labels.SelectorFromSet(sel.MatchAnnotations)
		for i, e := range sel.MatchExpressions {
			r, err := newRequirement(e)
			if err != nil {
				return nil, fmt.Errorf("spec.selector.matchExpressions[%d]: %w", i, err)
			}
			s.expressions = append(s.expressions, r)
		}
	}
	if spec.Weight < 0 {
		return nil, fmt.Errorf("spec.weight is %d: it must not be negative", spec.Weight)
	}
	s.weight.fixed, s.immediate = spec.Weight, spec.ImmediateNextStage
	var err error
	if s.weight.from, err = compileFrom("spec.weightFrom", spec.WeightFrom); err != nil {
		return nil, err
	}
	if d := spec.Delay; d != nil {
		if s.delay, err = newSpan("spec.delay.duration", d.DurationMilliseconds, d.DurationFrom); err != nil {
			return nil, err
		}
		if s.jitter, err = newSpan("spec.delay.jitterDuration", d.JitterDurationMilliseconds, d.JitterDurationFrom); err != nil {
			return nil, err
		}
	}
	return s, m.readNext(&s.next)
}

func (m *manifest) readNext(n *next) error {
	from := &m.Spec.Next
	n.deletes = from.Delete
	if e := from.Event; e != nil {
		n.eventType, n.reason, n.message = e.Type, e.Reason, e.Message
	}
	if f := from.Finalizers; f != nil {
		n.empty = f.Empty
		for _, v := range f.Add {
			n.add = append(n.add, v.Value)
		}
		for _, v := range f.Remove {
			n.remove = append(n.remove, v.Value)
		}
	}
	if from.StatusTemplate != "" {
		t, err := newTemplate("spec.next.statusTemplate", from.StatusTemplate)
		if err != nil {
			return err
		}
		n.patches = append(n.patches, patch{root: "status", template: t})
	}
	for i, p := range from.Patches {
		at := fmt.Sprintf("spec.next.patches[%d]", i)
		t, err := newTemplate(at+".template", p.Template)
		if err != nil {
			return err
		}
		merge := false
		switch p.Type {
		case "", "strategic", "application/strategic-merge-patch+json":
		case "merge", "application/merge-patch+json":
			merge = true
		default:
			return fmt.Errorf("%s.type is %q: want strategic or merge", at, p.Type)
		}
		n.patches = append(n.patches, patch{root: p.Root, merge: merge, template: t})
	}
	return nil
}

// groupKind reads a group, which KWOK lets users write with a version, and the core one as "v1".
func groupKind(group, kind string) schema.GroupKind {
	group, _, _ = strings.Cut(group, "/")
	if group == "v1" {
		group = ""
	}
	return schema.GroupKind{Group: group, Kind: kind}
}

// number is a number of the Stage's, or of the object's if that has it.
type number struct {
	fixed int
	from  *query
}

// span is a length of time of the Stage's, or of the object's if that has it: a duration, or until a time.
type span struct {
	set   bool
	fixed time.Duration
	from  *query
}

func newSpan(field string, ms *int64, from *fromExpr) (s span, err error) {
	if ms != nil {
		if *ms < 0 || *ms > int64(maxDelay/time.Millisecond) {
			return s, fmt.Errorf("%sMilliseconds is %d: want 0 to %d", field, *ms, maxDelay/time.Millisecond)
		}
		s.set, s.fixed = true, time.Duration(*ms)*time.Millisecond
	}
	s.from, err = compileFrom(field+"From", from)
	s.set = s.set || s.from != nil
	return s, err
}

// maxDelay keeps sums of times far from an overflow.
const maxDelay = 100 * 365 * 24 * time.Hour
