package reports

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// Line is one line of a story.
type Line struct {
	Step  uint64
	At    time.Duration
	Actor string
	Text  string
}

// String renders the line with its step and virtual time.
func (l Line) String() string {
	return fmt.Sprintf("step %-5d %9s  %-12s %s", l.Step, roundedDuration(l.At), l.Actor, l.Text)
}

// How many lines a story has: what one can read in a minute.
const (
	MaxStory  = 15
	MaxEnding = 24
)

// Story is what happened to an object, told from a trace: the last lines up to the given step (0 for the end) that are about the key
// ("default/a"), and, around them, the faults, lists and ends of watches that explain them. With an empty key it is about the latter only.
func Story(r *sim.TraceReader, key string, upTo uint64) ([]Line, error) {
	return lines(r, upTo, MaxStory, func(r *sim.TraceRecord) (string, bool) {
		about := key != "" && (r.Key == key || strings.HasSuffix(r.Key, " "+key))
		return tell(r, about, "")
	})
}

// Ending is what happened last, told from a trace: the last lines, whatever they are about.
func Ending(r *sim.TraceReader) ([]Line, error) {
	return lines(r, 0, MaxEnding, func(r *sim.TraceRecord) (string, bool) {
		of := ""
		if r.Key != "" {
			of = " of " + r.Key
		}
		if text, ok := tell(r, true, of); ok {
			return text, true
		}
		return plainly(r), true
	})
}

// lines are the last n records up to a step that are told.
func lines(r *sim.TraceReader, upTo uint64, n int, tell func(*sim.TraceRecord) (string, bool)) ([]Line, error) {
	var lines []Line
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) || err == nil && upTo > 0 && s.Step > upTo {
			return lines, nil
		}
		if err != nil {
			return lines, err
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
			if len(lines) == n {
				lines = append(lines[:0], lines[1:]...)
			}
			lines = append(lines, Line{s.Step, time.Duration(at), record.Actor, text})
		}
	}
}

// tell puts a record into words; ok is false for those that a story leaves out. About says that the record's object is what the
// story is about; of names it where the story is about many.
func tell(r *sim.TraceRecord, about bool, of string) (text string, ok bool) {
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
		return fmt.Sprintf("request %d%s: %s", r.N, of, r.Detail), strings.HasPrefix(r.Detail, "list") || about
	}
	if !about {
		return "", false
	}
	switch r.Kind {
	case "commit":
		return fmt.Sprintf("commits %s of %s at rv=%d", r.Detail, r.Key, r.RV), true
	case "frame":
		if r.Key == "" {
			return fmt.Sprintf("watch %d delivers %s", r.N, r.Detail), true
		}
		return fmt.Sprintf("watch %d delivers %s%s at rv=%d", r.N, r.Detail, of, r.RV), true
	case "tombstone":
		return fmt.Sprintf("queues a deletion of %s, which the list lacks", objectOf(r.Key)), true
	case "indexer":
		return fmt.Sprintf("Indexer: %s%s rv=%d", r.Detail, of, r.RV), true
	case "notify":
		return fmt.Sprintf("is told: %s%s rv=%d", r.Detail, of, r.RV), true
	}
	return "", false
}

// plainly names a record that has no words of its own.
func plainly(r *sim.TraceRecord) string {
	var b strings.Builder
	b.WriteString(r.Kind)
	if r.Key != "" {
		b.WriteString(" " + r.Key)
	}
	if r.Kind == "response" {
		fmt.Fprintf(&b, " %d", r.N)
	}
	if r.RV != 0 {
		fmt.Fprintf(&b, " rv=%d", r.RV)
	}
	if r.Detail != "" {
		b.WriteString(" " + r.Detail)
	}
	return b.String()
}

// objectOf is the key of a record without its resource: "default/a" of "pods default/a".
func objectOf(key string) string {
	if _, object, ok := strings.Cut(key, " "); ok {
		return object
	}
	return key
}
