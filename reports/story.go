package reports

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// A Line is one line of a story.
type Line struct {
	Step  uint64        `json:"step"`
	At    time.Duration `json:"atNs"`
	Actor string        `json:"actor"`
	Text  string        `json:"text"`
}

// String renders the line with its step and virtual time.
func (l Line) String() string {
	return fmt.Sprintf("step %-5d %9s  %-12s %s", l.Step, Rounded(l.At), PlainLine(l.Actor), PlainLine(l.Text))
}

// The most lines of a story and of an ending: a minute's reading.
const (
	MaxStory  = 15
	MaxEnding = 24
)

// Ending tells from a trace what happened last, to any object. Renewals of watches in a row are one line.
func Ending(r *sim.TraceReader) ([]Line, error) {
	var fold renewals
	var filled fillings
	last := tail{n: MaxEnding}
	err := eachLine(r, func(r *sim.TraceRecord) (string, bool) {
		of := ""
		if r.Key != "" {
			of = " of " + r.Key
		}
		if text, ok := tell(r, of); ok {
			return text, true
		}
		switch r.Kind { // the stories of objects tell them in a line each
		case "reconcile":
			return "begins to reconcile " + r.Key + revision(r), true
		case "reconciled":
			return reconciledText(r), true
		case "sends":
			for _, lines := range [][]Line{fold.pending, last.lines} { // the request's record is the one before
				if n := len(lines) - 1; n >= 0 && strings.HasPrefix(lines[n].Text, fmt.Sprintf("request %d", r.N)) && lines[n].Actor == "conn/"+r.Detail {
					lines[n].Text += fmt.Sprintf(", by %s for %s", r.Actor, r.Key)
					break
				}
			}
			return "", false
		case "apply":
			if r.Detail == "INIT" {
				return fmt.Sprintf("fills a watch cache at rv=%d", r.RV), true
			}
		}
		return rawText(r), true
	}, func(r *sim.TraceRecord, l Line) {
		if fold.takes(r, l) {
			return
		}
		last.add(fold.fold()...)
		if !filled.takes(r, l, last.lines) {
			last.add(l)
		}
	})
	last.add(fold.fold()...)
	return last.lines, err
}

// fillings folds what an apiserver does after a restart: it fills the watch cache of each resource, one after the other.
type fillings struct {
	line  Line // the one that is told
	times int
}

// takes reports whether a record is one more of those that the last line tells of, and has that line say so.
func (f *fillings) takes(r *sim.TraceRecord, l Line, told []Line) bool {
	if r.Kind != "apply" || r.Detail != "INIT" {
		return false
	}
	n := len(told) - 1
	if n < 0 || told[n] != f.line || f.line.Actor != l.Actor {
		f.line, f.times = l, 1
		return false
	}
	f.times++
	told[n].Text = fmt.Sprintf("fills %d watch caches, the last at rv=%d", f.times, r.RV)
	f.line = told[n]
	return true
}

// tail keeps the last n lines.
type tail struct {
	n     int
	lines []Line
}

func (t *tail) add(lines ...Line) {
	t.lines = append(t.lines, lines...)
	if more := len(t.lines) - t.n; more > 0 {
		t.lines = append(t.lines[:0], t.lines[more:]...)
	}
}

// eachLine calls f with each record that tell has words for.
func eachLine(r *sim.TraceReader, tell func(*sim.TraceRecord) (string, bool), f func(*sim.TraceRecord, Line)) error {
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range s.Records {
			record := &s.Records[i]
			text, ok := tell(record)
			if !ok {
				continue
			}
			at := s.At
			if record.At != nil {
				at = *record.At
			}
			f(record, Line{s.Step, time.Duration(at), record.Actor, text})
		}
	}
}

// tell puts a record into words, if it has some; of names the object.
func tell(r *sim.TraceRecord, of string) (text string, ok bool) {
	switch r.Kind {
	case "fault":
		return fmt.Sprintf("FAULT %s hits %s", r.Detail, r.Key), true
	case "replace":
		return fmt.Sprintf("takes a list of %d objects at rv=%d", r.N, r.RV), true
	case "watch-closed":
		return fmt.Sprintf("watch %d%s ends: %s", r.N, of, r.Detail), true
	case "compacted":
		return fmt.Sprintf("compacts to rv=%d", r.RV), true
	case "request":
		return fmt.Sprintf("request %d%s: %s", r.N, of, Asked(r)), true
	case "commit":
		return fmt.Sprintf("commits %s of %s at rv=%d", r.Detail, r.Key, r.RV), true
	case "frame":
		if r.Key == "" {
			return WithNote(fmt.Sprintf("watch %d delivers %s", r.N, r.Detail), r), true
		}
		return fmt.Sprintf("watch %d delivers %s%s at rv=%d", r.N, r.Detail, of, r.RV), true
	case "tombstone":
		return fmt.Sprintf("queues a deletion of %s, which is not in the list", objectOf(r.Key)), true
	case "indexer":
		return fmt.Sprintf("Indexer: %s%s rv=%d", r.Detail, of, r.RV), true
	case "notify":
		return fmt.Sprintf("is notified: %s%s rv=%d", r.Detail, of, r.RV), true
	}
	return "", false
}

// Asked is what a request asks for. Its note goes on where the path ends: with the name that a create's path lacks, or with a subresource.
func Asked(r *sim.TraceRecord) string { return r.Detail + r.Note }

// WithNote adds to a text what a record says beside what a replay compares, such as the code of an ERROR event. Traces before version 3 lack it.
func WithNote(text string, r *sim.TraceRecord) string {
	if r.Note == "" {
		return text
	}
	return text + ": " + r.Note
}

// revision is the one that a record is about, "" if it is about none.
func revision(r *sim.TraceRecord) string {
	if r.RV > 0 {
		return fmt.Sprintf(" at rv=%d", r.RV)
	}
	return ""
}

// reconciledText says how a reconcile ended.
func reconciledText(r *sim.TraceRecord) string {
	text := "has reconciled " + r.Key + ": " + r.Detail
	if r.N >= 0 {
		text += ", retry in " + time.Duration(r.N).String()
	}
	return text
}

// rawText renders a record that tell has no words for.
func rawText(r *sim.TraceRecord) string {
	var b strings.Builder
	b.WriteString(r.Kind)
	if r.Key != "" {
		b.WriteString(" " + r.Key)
	}
	if r.Kind == "response" {
		fmt.Fprintf(&b, " %d", r.N)
	}
	if r.RV > 0 {
		fmt.Fprintf(&b, " rv=%d", r.RV)
	}
	if r.Detail != "" {
		b.WriteString(" " + r.Detail)
	}
	return b.String()
}

// objectOf returns a record's key without the resource: "default/a" for "pods default/a".
func objectOf(key string) string {
	if _, object, ok := strings.Cut(key, " "); ok {
		return object
	}
	return key
}
