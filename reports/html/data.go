package html

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/timeline"
)

// data is what the script draws from. Texts are indices of Texts; lanes and parts are indices of theirs. script.js reads it.
type data struct {
	Texts []string   `json:"texts"`
	Lanes [][]string `json:"lanes"` // name, role, owner
	Parts [][]any    `json:"parts"` // lane, kind, the resources that its client lists or watches
	// Rows are steps: number, virtual time in ns, lane, choice, texts, keys, marks (lane, shape), arrows (number of a step, lane, lane, 1 if
	// it is lost), effects (part, key and, unless it is gone, rv and note), and 1 if it explains others. A stretch that is left out is a row
	// of its first number, its virtual time, -2, the number of its steps, and its effects.
	Rows      [][]any  `json:"rows"`
	Bands     [][]any  `json:"bands"` // lane, first and last number of a step, text, 1 if a fault began it
	Violation uint64   `json:"violation,omitempty"`
	Because   []int    `json:"because,omitempty"`
	Involved  []int    `json:"involved,omitempty"` // the texts of the keys
	Named     bool     `json:"named,omitempty"`    // the verdict names them
	Shapes    []string `json:"shapes"`
}

var shapes = []timeline.Shape{timeline.ShapeEvent, timeline.ShapeFault, timeline.ShapeLost, timeline.ShapeWrite, timeline.ShapeSync}

// encoder makes the data of a timeline.
type encoder struct {
	t     *timeline.Timeline
	d     data
	texts map[string]int
	there map[item]bool   // what the effects up to here have left
	keys  map[string]bool // the objects whose state is kept; nil for all
}

// maxKeys is the number of objects above which only the state of those that the kept steps are about is in a report.
const maxKeys = 400

// dataOf encodes what the diagram shows. kept says what that is.
func dataOf(t *timeline.Timeline, budget int) ([]byte, choice, error) {
	e := &encoder{t: t, texts: map[string]int{}, there: map[item]bool{}}
	of := involved(t)
	c := choose(t, of, budget)
	e.keep(c, of)
	for _, s := range shapes {
		e.d.Shapes = append(e.d.Shapes, string(s))
	}
	for _, l := range t.Lanes {
		e.d.Lanes = append(e.d.Lanes, []string{capped(reports.Plain(l.Name), maxText), string(l.Role), capped(reports.Plain(l.Owner), maxText)})
	}
	for _, p := range t.Parts {
		follows := []string{}
		for _, r := range t.Follows(t.Lanes[p.Lane].Owner) {
			follows = append(follows, capped(reports.Plain(r), maxText))
		}
		e.d.Parts = append(e.d.Parts, []any{p.Lane, p.Kind, follows})
	}
	e.rows(c)
	e.bands(c)
	if v := t.Conclusion.Violation; v != nil {
		e.d.Violation = v.Step
		for _, b := range v.Because {
			e.d.Because = append(e.d.Because, int(b.Step))
		}
	}
	e.d.Named = t.Named()
	for _, o := range t.Involved() {
		if of[o.Key] {
			e.d.Involved = append(e.d.Involved, e.text(o.Key))
		}
	}
	b, err := json.Marshal(&e.d)
	if err != nil {
		return nil, c, fmt.Errorf("rendering the report: %w", err)
	}
	return b, c, nil
}

// keep decides of which objects the state is kept.
func (e *encoder) keep(c choice, involved map[string]bool) {
	if len(e.t.Objects) <= maxKeys {
		return
	}
	e.keys = map[string]bool{}
	for key := range involved { // order: a set
		e.keys[key] = true
	}
	for i := range e.t.Steps {
		if c.keep[i] {
			for _, key := range e.t.Steps[i].Keys {
				e.keys[key] = true
			}
		}
	}
}

func (e *encoder) text(s string) int {
	s = capped(reports.Plain(s), maxText)
	n, ok := e.texts[s]
	if !ok {
		n = len(e.d.Texts)
		e.d.Texts = append(e.d.Texts, s)
		e.texts[s] = n
	}
	return n
}

func (e *encoder) rows(c choice) {
	var gap gap
	for i := range e.t.Steps {
		s := &e.t.Steps[i]
		if !c.keep[i] {
			gap.add(i, s)
			continue
		}
		e.closeGap(&gap)
		row := []any{i + 1, int64(s.At), s.Lane, e.text(s.Choice), e.textsOf(s.Texts), e.textsOf(s.Keys), nil, nil, e.effects(s.Effects), 0}
		marks, arrows := []int{}, []int{}
		for _, m := range s.Marks {
			marks = append(marks, m.Lane, slices.Index(shapes, m.Shape))
		}
		for _, a := range s.Arrows {
			lost := 0
			if a.Lost {
				lost = 1
			}
			arrows = append(arrows, a.From+1, a.FromLane, a.ToLane, lost)
		}
		row[6], row[7] = marks, arrows
		if notable(s) {
			row[9] = 1
		}
		e.d.Rows = append(e.d.Rows, row)
	}
	e.closeGap(&gap)
}

func (e *encoder) textsOf(all []string) []int {
	ns := make([]int, len(all))
	for i, s := range all {
		ns[i] = e.text(s)
	}
	return ns
}

func (e *encoder) effects(all []timeline.Effect) [][]any {
	rows := [][]any{}
	for _, f := range all {
		object := e.t.Parts[f.Part].Kind != timeline.PartRequests && e.t.Parts[f.Part].Kind != timeline.PartReflector && e.t.Parts[f.Part].Kind != timeline.PartProcess &&
			e.t.Parts[f.Part].Kind != timeline.PartHeld
		if object && e.keys != nil && !e.keys[f.Key] {
			continue
		}
		row := []any{f.Part, e.text(f.Key)}
		if f.Gone {
			delete(e.there, item{f.Part, f.Key})
		} else {
			e.there[item{f.Part, f.Key}] = true
			row = append(row, f.RV, e.text(f.Note))
		}
		rows = append(rows, row)
	}
	return rows
}

// gap is a stretch of steps that is left out.
type gap struct {
	first, count int
	at           int64
	changed      map[item]timeline.Effect
	order        []item // the last changed last
}

type item struct {
	part int
	key  string
}

func (g *gap) add(i int, s *timeline.Step) {
	if g.count == 0 {
		g.first, g.changed, g.order = i, map[item]timeline.Effect{}, nil
	}
	g.count++
	g.at = int64(s.At)
	for _, f := range s.Effects {
		x := item{f.Part, f.Key}
		g.changed[x] = f
		g.order = append(g.order, x)
	}
}

// closeGap writes the row of a gap, with what it changed altogether. That lacks what both came and went in it: in a long one there are many requests.
func (e *encoder) closeGap(g *gap) {
	if g.count == 0 {
		return
	}
	var last []timeline.Effect
	for i := len(g.order) - 1; i >= 0; i-- {
		if f, ok := g.changed[g.order[i]]; ok {
			if !f.Gone || e.there[g.order[i]] {
				last = append(last, f)
			}
			delete(g.changed, g.order[i])
		}
	}
	slices.Reverse(last)
	e.d.Rows = append(e.d.Rows, []any{g.first + 1, g.at, -2, g.count, e.effects(last)})
	*g = gap{}
}

// bands encodes those that a kept step lies in.
func (e *encoder) bands(c choice) {
	before := make([]int, len(c.keep)+1) // kept steps before each
	for i, keep := range c.keep {
		before[i+1] = before[i]
		if keep {
			before[i+1]++
		}
	}
	for _, b := range e.t.Bands {
		if before[b.To+1] == before[b.From] {
			continue
		}
		fault := 0
		if b.Fault {
			fault = 1
		}
		e.d.Bands = append(e.d.Bands, []any{b.Lane, b.From + 1, b.To + 1, e.text(b.Text), fault})
	}
}
