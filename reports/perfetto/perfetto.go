package perfetto

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/timeline"
)

// event is an event of the Trace Event Format, which viewers call legacy JSON.
type event struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	At       int64          `json:"ts"`
	Duration int64          `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	ID       int            `json:"id,omitempty"`
	Binding  string         `json:"bp,omitempty"`
	Scope    string         `json:"s,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// writer writes events as they come: a long run has many.
type writer struct {
	w     io.Writer
	t     *timeline.Timeline
	group []int // by lane, its process
	flows int
	first bool
	err   error
}

// Write renders a timeline to w.
func Write(w io.Writer, t *timeline.Timeline) error {
	x := &writer{w: w, t: t, first: true}
	x.text(`{"displayTimeUnit":"ms","traceEvents":[`)
	x.lanes()
	for i := range t.Steps {
		x.step(i)
	}
	for i := range t.Bands {
		x.band(&t.Bands[i])
	}
	x.text("\n]}\n")
	return x.err
}

func (x *writer) text(s string) {
	if x.err == nil {
		_, x.err = io.WriteString(x.w, s)
	}
}

func (x *writer) emit(e event) {
	e.Name = reports.PlainLine(e.Name)
	line, err := json.Marshal(&e)
	if err != nil && x.err == nil {
		x.err = fmt.Errorf("rendering the run: %w", err)
	}
	separator := ",\n"
	if x.first {
		separator, x.first = "\n", false
	}
	x.text(separator + string(line))
}

// lanes names the threads, and their groups in the order of the lanes.
func (x *writer) lanes() {
	groups := map[string]int{}
	for n, l := range x.t.Lanes {
		name := l.Owner
		if name == "" {
			name = "cluster"
		}
		group, ok := groups[name]
		if !ok {
			group = len(groups) + 1
			groups[name] = group
			x.emit(event{Name: "process_name", Phase: "M", Process: group, Args: map[string]any{"name": reports.PlainLine(name)}})
			x.emit(event{Name: "process_sort_index", Phase: "M", Process: group, Args: map[string]any{"sort_index": group}})
		}
		x.group = append(x.group, group)
		x.emit(event{Name: "thread_name", Phase: "M", Process: group, Thread: n + 1, Args: map[string]any{"name": reports.PlainLine(l.Name)}})
		x.emit(event{Name: "thread_sort_index", Phase: "M", Process: group, Thread: n + 1, Args: map[string]any{"sort_index": n}})
	}
}

// at returns the viewer's time of a step.
func at(i int) int64 { return int64(i + 1) }

func (x *writer) on(lane int, e event) {
	e.Process, e.Thread = x.group[lane], lane+1
	x.emit(e)
}

func (x *writer) step(i int) {
	s := &x.t.Steps[i]
	name := s.Choice
	if len(s.Texts) > 0 {
		name = s.Texts[0]
	}
	for n, m := range s.Marks {
		e := event{Name: name, Category: string(m.Shape), Phase: "X", At: at(i), Duration: 1}
		if n == 0 {
			e.Args = map[string]any{"step": i + 1, "virtual time": s.At.String(), "choice": reports.PlainLine(s.Choice)}
			for k, text := range s.Texts {
				e.Args[fmt.Sprintf("record %d", k+1)] = reports.PlainLine(text)
			}
		}
		x.on(m.Lane, e)
	}
	for _, a := range s.Arrows {
		x.flows++
		name := "delivery"
		if a.Lost {
			name = "lost"
		}
		x.on(a.FromLane, event{Name: name, Category: "flow", Phase: "s", At: at(a.From), ID: x.flows})
		x.on(a.ToLane, event{Name: name, Category: "flow", Phase: "f", Binding: "e", At: at(i), ID: x.flows})
	}
	if v := x.t.Conclusion.Violation; v != nil && v.Step == uint64(i+1) {
		lane := max(s.Lane, 0)
		x.on(lane, event{Name: "VIOLATION " + v.Property, Phase: "i", Scope: "g", At: at(i), Args: map[string]any{"message": reports.Plain(v.Message)}})
	}
}

func (x *writer) band(b *timeline.Band) {
	x.on(b.Lane, event{Name: b.Text, Category: "band", Phase: "X", At: at(b.From), Duration: int64(b.To-b.From) + 1})
}
