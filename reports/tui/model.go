package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/timeline"
)

// A Model is what the user looks at, and from where.
type Model struct {
	t      *timeline.Timeline
	faults []uint64        // steps at which one hit, ascending
	proof  map[uint64]bool // steps that the violation names

	width, height int
	color         bool
	step          uint64 // the cursor; 0 if there are no steps
	scroll        int    // lines of the state above the screen
	changes       bool   // only what the step changes is shown
	help          bool
	typing        bool // what is searched for is being typed
	query, typed  string
	message       string // about the last key, "" for none
}

// New returns a model of a run whose cursor is at the violation; without one, at the end of a run that did not come to its own, else at the
// beginning.
func New(t *timeline.Timeline, color bool) *Model {
	m := &Model{t: t, color: color, width: 80, height: 24, proof: map[uint64]bool{}}
	for _, f := range t.Faults {
		m.faults = append(m.faults, f.Step)
	}
	m.faults = slices.Compact(m.faults)
	for _, e := range t.Because() {
		m.proof[e.Step] = true
	}
	last := m.last()
	switch v := t.Conclusion.Violation; {
	case last == 0:
	case v != nil:
		m.step = min(max(v.Step, 1), last)
	case t.Ending() != nil:
		m.step = last
	default:
		m.step = 1
	}
	return m
}

func (m *Model) last() uint64 { return uint64(len(m.t.Steps)) }

// Resize tells the size of the terminal.
func (m *Model) Resize(width, height int) { m.width, m.height = max(width, 1), max(height, 1) }

// Step returns the step at the cursor, 0 if the run has none.
func (m *Model) Step() uint64 { return m.step }

// A Key is a key that was pressed: a character, or one of the names below.
type Key string

// The keys that are no characters.
const (
	Up, Down, PageUp, PageDown Key = "up", "down", "page up", "page down"
	Left, Right, Home, End     Key = "left", "right", "home", "end"
	Enter, Escape, Backspace   Key = "enter", "escape", "backspace"
	Interrupt                  Key = "interrupt" // Ctrl-C
)

// Press takes in a key, and reports whether the user wants to leave.
func (m *Model) Press(k Key) (leave bool) {
	m.message = ""
	switch {
	case k == Interrupt:
		return true
	case m.typing:
		m.write(k)
		return false
	case m.help:
		m.help = false
		return k == "q"
	}
	page := uint64(max(m.listHeight()-1, 1))
	switch k {
	case "q":
		return true
	case "?", "h":
		m.help = true
	case Up, "k", Left:
		m.back(1)
	case Down, "j", Right, " ":
		m.forward(1)
	case PageUp, "b":
		m.back(page)
	case PageDown:
		m.forward(page)
	case Home, "g":
		m.move(1)
	case End, "G":
		m.move(m.last())
	case "f":
		m.fault(1)
	case "F":
		m.fault(-1)
	case "v":
		m.violation()
	case "t":
		m.twin()
	case "/":
		m.typing, m.typed = true, ""
	case "n":
		m.search(1)
	case "N":
		m.search(-1)
	case "c":
		m.changes, m.scroll = !m.changes, 0
	case "]", "J":
		m.scroll += max(m.height/4, 1) // what is too much is taken back when it is shown
	case "[", "K":
		m.scroll = max(m.scroll-max(m.height/4, 1), 0)
	case Escape:
		m.query = ""
	}
	return false
}

func (m *Model) move(to uint64) {
	if to = min(max(to, 1), m.last()); m.last() == 0 || to == m.step {
		return
	}
	m.step, m.scroll = to, 0
}

func (m *Model) back(n uint64) {
	if m.step <= 1 {
		m.message = "this is the first step"
	}
	m.move(m.step - min(n, m.step))
}

func (m *Model) forward(n uint64) {
	if m.step == m.last() {
		m.message = "this is the last step"
	}
	m.move(m.step + n)
}

// fault moves to the next fault in a direction.
func (m *Model) fault(by int) {
	n, found := slices.BinarySearch(m.faults, m.step)
	switch {
	case by < 0:
		n--
	case found:
		n++
	}
	if n < 0 || n >= len(m.faults) {
		m.message = fmt.Sprintf("no fault %s this step; the run has %s", map[bool]string{true: "before", false: "after"}[by < 0], reports.Counted(len(m.t.Faults), "fault"))
		return
	}
	m.move(m.faults[n])
}

func (m *Model) violation() {
	v := m.t.Conclusion.Violation
	if v == nil {
		m.message = "no property broke in this run"
		return
	}
	m.move(v.Step)
}

// twin moves to where the run first differs from the nearest one that passes.
func (m *Model) twin() {
	w := m.t.Conclusion.Twin
	if w.First() == 0 {
		m.message = "the trace names no run that passes"
		return
	}
	m.move(w.First())
	m.message = w.Sentence()
}

// write takes in a key while a search is typed.
func (m *Model) write(k Key) {
	switch k {
	case Enter:
		m.typing, m.query = false, strings.ToLower(m.typed)
		if m.query != "" && !m.matches(m.step) {
			m.search(1)
		}
	case Escape:
		m.typing = false
	case Backspace:
		if all := []rune(m.typed); len(all) > 0 {
			m.typed = string(all[:len(all)-1])
		}
	default:
		if r := []rune(string(k)); len(r) == 1 {
			m.typed += string(k)
		}
	}
}

// search moves to the next step in a direction that is about what is searched for; past the last one it begins anew at the other end.
func (m *Model) search(by int) {
	if m.query == "" {
		m.message = "nothing is searched for: / begins"
		return
	}
	n := int(m.last())
	at := int(m.step) - 1
	for i := 1; i <= n; i++ {
		next := ((at+by*i)%n + n) % n
		if !m.matches(uint64(next + 1)) {
			continue
		}
		if by > 0 && next <= at || by < 0 && next >= at {
			m.message = "from the other end on"
		}
		m.move(uint64(next + 1))
		return
	}
	m.message = fmt.Sprintf("no step is about %q", m.query)
}

// matches reports whether a step is about what is searched for: an object's key has it, or what was done there.
func (m *Model) matches(step uint64) bool {
	if step < 1 || step > m.last() {
		return false
	}
	s := &m.t.Steps[step-1]
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), m.query) }
	return has(s.Choice) || slices.ContainsFunc(s.Keys, has) || slices.ContainsFunc(s.Texts, has)
}
