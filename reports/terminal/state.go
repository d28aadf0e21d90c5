package terminal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/timeline"
)

// maxItems is the number of items shown of a part that the step did not change.
const maxItems = 20

// shown are the parts whose state is worth a line, with their words. A queue is not recorded: it should have what was delivered and has not
// reached the Indexer, and in a run with a bug it may not.
var shown = map[timeline.PartKind]string{
	timeline.PartStore: "has", timeline.PartApplied: "has applied", timeline.PartRequests: "waits for", timeline.PartDelivered: "was sent", timeline.PartReflector: "does",
	timeline.PartQueue: "should have", timeline.PartIndexer: "has", timeline.PartRing: "is still to be told", timeline.PartTold: "was told", timeline.PartWork: "has", timeline.PartProcess: "is",
	timeline.PartHeld: "holds",
}

// State tells what a step did, and the state of every part after it: + what the step added, - what it removed, > what it changed.
func State(t *timeline.Timeline, step uint64) (string, error) {
	if len(t.Steps) == 0 {
		return "", errors.New("there are no steps in the trace")
	}
	if step < 1 || step > uint64(len(t.Steps)) {
		return "", fmt.Errorf("there is no step %d: the trace has steps 1 to %d", step, len(t.Steps))
	}
	return StateIn(t, step, Width, false), nil
}

// StateIn tells the same of a step that exists in lines of that width; with changes only of the parts that the step changed.
func StateIn(t *timeline.Timeline, step uint64, width int, changes bool) string {
	b := &panel{width: width}
	s := &t.Steps[step-1]
	fmt.Fprintf(b, "step %d of %d, at %s\n", step, len(t.Steps), reports.Rounded(s.At))
	for _, text := range append([]string{s.Choice}, s.Texts...) {
		b.item("  "+reports.PlainLine(text), 2)
	}
	before, after := t.State(step-1), t.State(step)
	changed := map[int]bool{}
	for _, f := range s.Effects {
		changed[f.Part] = true
	}
	order := make([]int, len(t.Parts))
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(x, y int) int { return t.Parts[x].Lane - t.Parts[y].Lane })
	for _, n := range order {
		p := t.Parts[n]
		word, empty := shown[p.Kind], len(before[n]) == 0 && len(after[n]) == 0
		if word == "" || changes && !changed[n] || empty && p.Kind != timeline.PartQueue && p.Kind != timeline.PartRing && p.Kind != timeline.PartIndexer {
			continue
		}
		title := "  " + reports.PlainLine(t.Lanes[p.Lane].Name) + " " + word
		b.WriteByte('\n')
		if empty {
			b.item(title+" nothing", 4)
			continue
		}
		b.item(title, 4)
		b.items(p.Kind, before[n], after[n])
	}
	return reports.Plain(b.String())
}

// panel is text of some width.
type panel struct {
	strings.Builder
	width int
}

// item writes an item, whose further lines are indented.
func (b *panel) item(text string, indent int) {
	for _, part := range Wrapped(text, b.width, indent) {
		b.WriteString(part + "\n")
	}
}

func (b *panel) items(kind timeline.PartKind, before, after []timeline.Item) {
	had := map[string]timeline.Item{}
	for _, i := range before {
		had[i.Key] = i
	}
	has := map[string]bool{}
	for _, i := range after {
		has[i.Key] = true
	}
	for _, i := range before {
		if !has[i.Key] {
			b.item("    - "+itemText(kind, i), 6)
		}
	}
	same, more := 0, 0
	for _, i := range after {
		was, ok := had[i.Key]
		switch {
		case !ok:
			b.item("    + "+itemText(kind, i), 6)
		case was.RV != i.RV || was.Note != i.Note:
			b.item("    > "+itemText(kind, i)+", was "+itemText(kind, was), 6)
		case same == maxItems:
			more++
		default:
			same++
			b.item("      "+itemText(kind, i), 6)
		}
	}
	if more > 0 {
		fmt.Fprintf(b, "      and %d more\n", more)
	}
	if len(after) == 0 {
		b.WriteString("      nothing any more\n")
	}
}

func itemText(kind timeline.PartKind, i timeline.Item) string {
	text := i.Key
	switch kind {
	case timeline.PartReflector, timeline.PartProcess:
		return reports.PlainLine(i.Note)
	case timeline.PartRequests:
		return reports.PlainLine(i.Key + ": " + i.Note)
	}
	if i.RV != 0 {
		text += fmt.Sprintf(" rv=%d", i.RV)
	}
	if i.Note != "" && kind != timeline.PartIndexer {
		text += " (" + i.Note + ")"
	}
	return reports.PlainLine(text)
}
