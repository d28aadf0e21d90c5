package tui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/terminal"
	"github.com/informersim/informersim/reports/timeline"
)

// How text looks. The first three are no colors, and stay under NO_COLOR.
const (
	reset   = "\x1b[0m"
	bold    = "\x1b[1m"
	reverse = "\x1b[7m"
	dim     = "\x1b[2m"
	red     = "\x1b[31m"
	green   = "\x1b[32m"
	yellow  = "\x1b[33m"
)

// sideBySide is the width from which the state stands beside the steps.
const sideBySide = 130

// keys are told in the last line, the most important first.
const keys = "↑↓ step · f F fault · v violation · / search · c changes · ? help · q quit"

const helpText = `↑ k, ↓ j        a step back, a step on (also ← →)
PgUp, PgDn      a screen of steps back, on
Home g, End G   the first step, the last one
v               the step at which the property broke
t               the first difference from the nearest run that passes
f, F            the next fault, the one before
/               search: a part of an object's key, or of what was done
n, N            the next step that was searched for, the one before
c               only the parts that the step changed, or all
] J, [ K        scroll the state
? h             this help
q, Ctrl-C       quit

In the list: > the cursor, V the violation, * a step that proves it,
F a fault, x something was lost, w a write, l a list took effect.
In the state: + the step added it, - removed it, > changed it.`

// View returns the screen: as many lines as the terminal has, each no wider.
func (m *Model) View() string {
	lines := make([]string, 0, m.height)
	lines = append(lines, m.paint(reverse+bold, m.fit(m.title(), m.width)))
	if body := m.height - 2; body > 0 {
		lines = append(lines, m.body(body)...)
	}
	if m.height > 1 {
		lines = append(lines, m.footer())
	}
	return strings.Join(lines, "\n")
}

// paint wraps a text in a look.
func (m *Model) paint(look, text string) string {
	if !m.color {
		kept := ""
		for _, l := range []string{reverse, bold} {
			if strings.Contains(look, l) {
				kept += l
			}
		}
		look = kept
	}
	if look == "" {
		return text
	}
	return look + text + reset
}

// fit cuts a text, or fills it with spaces, to a width.
func (m *Model) fit(text string, width int) string {
	n := utf8.RuneCountInString(text)
	if n <= width {
		return text + strings.Repeat(" ", width-n)
	}
	if width < 2 {
		return strings.Repeat(" ", width)
	}
	return string([]rune(text)[:width-1]) + "…"
}

func (m *Model) title() string {
	h := m.t.Header
	return fmt.Sprintf(" %s · %s, seed %d, %s", m.t.Headline(), reports.PlainLine(h.Scenario), h.Seed, reports.PlainLine(h.Subject))
}

func (m *Model) footer() string {
	switch {
	case m.typing:
		return m.fit(" /"+reports.PlainLine(m.typed)+"▏", m.width)
	case m.message != "":
		return m.paint(bold, m.fit(" "+reports.PlainLine(m.message), m.width))
	case m.query != "":
		return m.paint(dim, m.fit(" /"+reports.PlainLine(m.query)+" · n/N next, previous · Esc ends · "+keys, m.width))
	}
	return m.paint(dim, m.fit(" "+keys, m.width))
}

// wide reports whether the state stands beside the steps.
func (m *Model) wide() bool { return m.width >= sideBySide }

// listHeight is the number of lines that the list of steps has.
func (m *Model) listHeight() int {
	body := m.height - 2
	if m.wide() {
		return max(body, 1)
	}
	return max(min(body*2/5, 16), 1)
}

// body is what lies between the title and the last line.
func (m *Model) body(height int) []string {
	switch {
	case m.help:
		return m.page(strings.Split(helpText, "\n"), height)
	case m.step == 0:
		return m.page([]string{"The trace has no steps.", "", "q quits."}, height)
	case m.wide():
		left := m.width * 2 / 5
		list, state := m.list(left, height), m.state(m.width-left-3, height)
		for i := range list {
			list[i] += m.paint(dim, " │ ") + state[i]
		}
		return list
	}
	n := min(m.listHeight(), height)
	lines := m.list(m.width, n)
	if height > n {
		lines = append(lines, m.paint(dim, m.fit(strings.Repeat("─", m.width), m.width)))
	}
	if rest := height - n - 1; rest > 0 {
		lines = append(lines, m.state(m.width, rest)...)
	}
	return lines
}

// page shows a text that is no part of the run.
func (m *Model) page(text []string, height int) []string {
	var lines []string
	for i := range height {
		line := ""
		if i > 0 && i <= len(text) {
			line = "  " + text[i-1]
		}
		lines = append(lines, m.fit(line, m.width))
	}
	return lines
}

// list shows the steps around the cursor.
func (m *Model) list(width, height int) []string {
	first := max(int(m.step)-1-height/2, 0)
	first = max(min(first, len(m.t.Steps)-height), 0)
	lines := make([]string, 0, height)
	for i := range height {
		n := first + i
		if n >= len(m.t.Steps) {
			lines = append(lines, m.fit("", width))
			continue
		}
		lines = append(lines, m.row(n, width))
	}
	return lines
}

// row is a step in the list.
func (m *Model) row(n, width int) string {
	s, step := &m.t.Steps[n], uint64(n+1)
	cursor, mark, look := " ", m.mark(step), ""
	switch mark {
	case "V":
		look = bold + red
	case "F", "x":
		look = red
	case "*", "l":
		look = yellow
	case "w":
		look = green
	}
	if step == m.step {
		cursor, look = ">", reverse+look
	}
	text := s.Choice
	if len(s.Texts) > 0 && s.Lane < 0 {
		text = s.Texts[0] // the clock: what its timers did says more
	}
	return m.paint(look, m.fit(fmt.Sprintf("%s%s %6d %10s  %s", cursor, mark, step, reports.Rounded(s.At), reports.PlainLine(text)), width))
}

// mark says in a character what is notable about a step.
func (m *Model) mark(step uint64) string {
	if v := m.t.Conclusion.Violation; v != nil && v.Step == step {
		return "V"
	}
	if m.proof[step] {
		return "*"
	}
	best := " "
	for _, x := range m.t.Steps[step-1].Marks {
		switch {
		case x.Shape == timeline.ShapeFault:
			return "F"
		case x.Shape == timeline.ShapeLost:
			best = "x"
		case x.Shape == timeline.ShapeWrite && best != "x":
			best = "w"
		case x.Shape == timeline.ShapeSync && best == " ":
			best = "l"
		}
	}
	return best
}

// state shows what the step did, and every part after it.
func (m *Model) state(width, height int) []string {
	text := strings.Split(strings.TrimRight(terminal.StateIn(m.t, m.step, width, m.changes), "\n"), "\n")
	if v := m.t.Conclusion.Violation; v != nil && v.Step == m.step {
		broke := terminal.Wrapped("breaks "+reports.PlainLine(v.Property)+": "+reports.PlainLine(v.Message), width, 2)
		text = append(broke, text...)
	}
	hidden := max(len(text)-height, 0)
	m.scroll = min(m.scroll, hidden)
	lines := make([]string, 0, height)
	for i := range height {
		line := ""
		if n := m.scroll + i; n < len(text) {
			line = text[n]
		}
		look := ""
		switch {
		case i == height-1 && m.scroll < hidden:
			line, look = fmt.Sprintf("  … %s: ] scrolls, c shows only what the step changes", reports.Counted(hidden-m.scroll+1, "more line")), dim
			if m.changes {
				line = fmt.Sprintf("  … %s: ] scrolls", reports.Counted(hidden-m.scroll+1, "more line"))
			}
		case strings.HasPrefix(line, "breaks "):
			look = bold + red
		case strings.HasPrefix(line, "step "):
			look = bold
		case strings.HasPrefix(line, "    + "):
			look = green
		case strings.HasPrefix(line, "    - "):
			look = red
		case strings.HasPrefix(line, "    > "):
			look = yellow
		}
		lines = append(lines, m.paint(look, m.fit(line, width)))
	}
	return lines
}
