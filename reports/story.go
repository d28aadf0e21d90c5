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
	return fmt.Sprintf("step %-5d %9s  %-12s %s", l.Step, shortDuration(l.At), l.Actor, l.Text)
}

// MaxStory is how many lines a story has: what one can read in a minute.
const MaxStory = 15

// Story is what happened to an object, told from a trace: the last lines up to the given step (0 for the end) that are about the key
// ("default/a"), and, around them, the faults, lists and ends of watches that explain them. With an empty key it is about the latter only.
func Story(r *sim.TraceReader, key string, upTo uint64) ([]Line, error) {
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
			if text, ok := tell(&s.Records[i], key); ok {
				at := s.At
				if s.Records[i].At != nil {
					at = *s.Records[i].At
				}
				lines = append(lines, Line{s.Step, time.Duration(at), s.Records[i].Actor, text})
				if len(lines) > MaxStory {
					lines = append(lines[:0], lines[1:]...)
				}
			}
		}
	}
}

// tell puts a record into words; ok is false for those that a story leaves out.
func tell(r *sim.TraceRecord, key string) (string, bool) {
	about := key != "" && (r.Key == key || strings.HasSuffix(r.Key, " "+key))
	switch r.Kind {
	case "fault":
		return fmt.Sprintf("FAULT %s hits %s", r.Detail, r.Key), true
	case "replace":
		return fmt.Sprintf("takes a list of %d objects at rv=%d", r.N, r.RV), true
	case "watch-closed":
		return fmt.Sprintf("watch %d ends: %s", r.N, r.Detail), true
	case "compacted":
		return fmt.Sprintf("compacts to rv=%d", r.RV), true
	case "request":
		return fmt.Sprintf("request %d: %s", r.N, r.Detail), strings.HasPrefix(r.Detail, "list") || about
	}
	if !about {
		return "", false
	}
	switch r.Kind {
	case "commit":
		return fmt.Sprintf("commits %s of %s at rv=%d", r.Detail, r.Key, r.RV), true
	case "frame":
		return fmt.Sprintf("watch %d delivers %s at rv=%d", r.N, r.Detail, r.RV), true
	case "tombstone":
		return fmt.Sprintf("queues a deletion of %s, which the list lacks", key), true
	case "indexer":
		return fmt.Sprintf("Indexer: %s rv=%d", r.Detail, r.RV), true
	case "notify":
		return fmt.Sprintf("is told: %s rv=%d", r.Detail, r.RV), true
	}
	return "", false
}

func shortDuration(d time.Duration) string { return d.Round(time.Millisecond).String() }
