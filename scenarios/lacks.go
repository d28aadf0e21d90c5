package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
)

// Fits returns an error if the scenario asks for something that a kind of subject lacks: a run of it would say nothing about that kind.
func (s *Scenario) Fits(k subjects.Kind) error {
	for _, c := range s.cmds {
		a, ok := c.Command.(interface{ asks() []subjects.Feature })
		if !ok {
			continue
		}
		for _, f := range a.asks() {
			if why, lacking := k.Lacks[f]; lacking {
				return &LacksError{Feature: f, Err: &ScriptError{Pos: c.syntax.Pos, Err: fmt.Errorf("%s does not have %s (%s)", k.Name, f, why)}}
			}
		}
	}
	return nil
}

// For returns the scenario without what a kind of subject lacks, for one that was generated: arguments of informers that it lacks are left
// open, and commands are left out.
func (s *Scenario) For(k subjects.Kind) (*Scenario, error) {
	if len(k.Lacks) == 0 || s.Fits(k) == nil {
		return s, nil
	}
	lacks := func(f subjects.Feature) bool { _, lacking := k.Lacks[f]; return lacking }
	parsed := map[*script.Command]Command{}
	for _, c := range s.cmds {
		parsed[c.syntax] = c.Command
	}
	file := &script.File{Name: s.file.Name}
	for _, node := range s.file.Nodes {
		c, ok := node.(*script.Command)
		if !ok {
			file.Nodes = append(file.Nodes, node)
			continue
		}
		switch parsed[c].(type) {
		case *indexerCmd:
			if lacks(subjects.LateIndexes) {
				continue
			}
		case *removeCmd:
			if lacks(subjects.Removals) {
				continue
			}
		case *stopCmd:
			kept := *c
			kept.Args = slices.DeleteFunc(slices.Clone(c.Args), func(a script.Arg) bool { return a.Key == "" && a.Value == "drain" && lacks(subjects.Drains) })
			c = &kept
		case *informerCmd:
			kept := *c
			late := parsed[c].(*informerCmd).streamsTransforms() && lacks(subjects.StreamTransforms)
			kept.Args = slices.DeleteFunc(slices.Clone(c.Args), func(a script.Arg) bool {
				return late && a.Key == "watch-list" || a.Key != "" && (lacks(subjects.Feature(a.Key+"="+a.Value)) || lacks(subjects.Feature(a.Key)))
			})
			c = &kept
		}
		file.Nodes = append(file.Nodes, c)
	}
	return FromScript(file)
}

// LacksError is the error of a scenario that asks for what a kind of subject lacks.
type LacksError struct {
	Feature subjects.Feature
	Err     error // a *ScriptError
}

func (e *LacksError) Error() string { return e.Err.Error() }

// Unwrap returns the error with its position.
func (e *LacksError) Unwrap() error { return e.Err }

// asks returns what the informer of a command must have.
func (c *informerCmd) asks() (all []subjects.Feature) {
	if c.spec.Queue != "" {
		all = append(all, subjects.QueueFeature(c.spec.Queue))
	}
	if c.spec.WatchList {
		all = append(all, subjects.StreamingLists)
	}
	if c.spec.Transform != (subjects.Transform{}) {
		all = append(all, subjects.Transforms)
	}
	if c.streamsTransforms() {
		all = append(all, subjects.StreamTransforms)
	}
	return all
}

// streamsTransforms reports whether the transform of what a streaming list brings may fail.
func (c *informerCmd) streamsTransforms() bool {
	return c.spec.WatchList && c.spec.Transform.FailLabel != ""
}

func (c *removeCmd) asks() []subjects.Feature { return []subjects.Feature{subjects.Removals} }

func (c *stopCmd) asks() []subjects.Feature {
	if c.drain {
		return []subjects.Feature{subjects.Drains}
	}
	return nil
}

// asks returns what the informer of a command must allow.
func (c *indexerCmd) asks() []subjects.Feature { return []subjects.Feature{subjects.LateIndexes} }

// comparable returns what can be compared of an expected output and of what a subject printed: the word "initial" is left out where handlers
// are not told which additions are of the initial list, and the timeouts of watches where they are drawn in another way. The result says so.
func (w *World) comparable(want, got string) (string, string) {
	lacks := w.options.Subject.Lacks
	if why, lacking := lacks[subjects.InitialFlags]; lacking && strings.Contains(want, initialSuffix+"\n") {
		want = strings.ReplaceAll(want, initialSuffix+"\n", "\n")
		w.incomparable("the word"+initialSuffix, why)
	}
	if why, lacking := lacks[subjects.WatchTimeouts]; lacking && watchTimeout.MatchString(want) {
		want, got = watchTimeout.ReplaceAllString(want, ""), watchTimeout.ReplaceAllString(got, "")
		w.incomparable("timeouts of watches", why)
	}
	return want, got
}

var watchTimeout = regexp.MustCompile(` timeout=\d+`)

func (w *World) incomparable(part, why string) {
	u := reports.Unjudged{Property: "the transcript", Part: part, Why: why}
	if !slices.Contains(w.result.Unjudged, u) {
		w.result.Unjudged = append(w.result.Unjudged, u)
	}
}
