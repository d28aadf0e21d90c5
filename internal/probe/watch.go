package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// openTimeout bounds the wait for a watch's response headers, eventTimeout that for a required event (some arrive after
	// three seconds), markerTimeout that for an event whose write is done, endTimeout that for a stream that the server must
	// end.
	openTimeout   = 20 * time.Second
	eventTimeout  = 6 * time.Second
	markerTimeout = 2 * time.Second
	endTimeout    = 15 * time.Second
	// quietTime without an event counts as quiet.
	quietTime = 400 * time.Millisecond
	// markerName is the prefix of the names of the objects that end a reading.
	markerName = "zz-marker-"
)

// frame is one decoded piece of a watch stream, or its end.
type frame struct {
	event any
	end   string
}

// watch is an open stream.
type watch struct {
	where  location
	frames chan frame
	cancel context.CancelFunc
	// ended says how the stream ended, once its end was read.
	ended string
	// reached is the highest resourceVersion delivered.
	reached int64
	// restarts is the number of restarts before it was opened.
	restarts int
}

// openWatch sends a watch request and records its head, and its body if it is not a stream.
func (s *Session) openWatch(result *Result, step Step, name, rest string) error {
	s.closeWatch(name)
	target, rest, _ := strings.Cut(rest, " ")
	parsed, err := ParseStep("GET " + target + " " + rest)
	if err != nil {
		return err
	}
	where := parseTarget(target)
	if where.raw == "" && !strings.Contains("&"+where.query, "&watch") {
		where.addQuery("watch", "true")
	}
	r, err := request(s.target.Root(), Step{Verb: http.MethodGet, Headers: parsed.Headers}, where.path(), "")
	if err != nil {
		return err
	}
	s.freshen(where)
	ctx, cancel := context.WithCancel(s.ctx)
	timer := time.AfterFunc(openTimeout, cancel)
	resp, err := s.client.Do(r.WithContext(ctx))
	timer.Stop()
	if err != nil {
		cancel()
		result.Error = failure(err)
		return nil
	}
	s.head(result, resp)
	if resp.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		cancel()
		s.body(result, resp.Header.Get("Content-Type"), data, step)
		return nil
	}
	w := &watch{where: where, frames: make(chan frame), cancel: cancel, restarts: s.restarts}
	s.watch[name] = w
	go w.read(ctx, resp.Body)
	return nil
}

// read decodes the stream until it ends.
func (w *watch) read(ctx context.Context, body io.ReadCloser) {
	defer body.Close()
	decoder := json.NewDecoder(body)
	decoder.UseNumber()
	for {
		var f frame
		if err := decoder.Decode(&f.event); err != nil {
			f = frame{end: streamEnd(err)}
		}
		select {
		case w.frames <- f:
		case <-ctx.Done():
			return
		}
		if f.end != "" {
			return
		}
	}
}

// streamEnd classifies why a stream ended.
func streamEnd(err error) string {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return "eof"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "cut"
	case errors.As(err, &syntax):
		return "garbage"
	}
	return "reset"
}

func (s *Session) closeWatch(name string) {
	if w := s.watch[name]; w != nil {
		w.cancel()
		delete(s.watch, name)
	}
}

// events reads from a watch: N events, "end" with an optional marker body, "quiet" or "eof".
func (s *Session) events(result *Result, name, rest string) error {
	w := s.watch[name]
	if w == nil {
		result.End = "not open"
		return nil
	}
	how, rest, _ := strings.Cut(rest, " ")
	count, marker, limit := -1, "", eventTimeout
	switch how {
	case "quiet":
		limit = quietTime
	case "eof":
		limit = endTimeout
	case "end":
		limit = markerTimeout
		var err error
		if marker, err = s.mark(w.where, rest); err != nil {
			return err
		}
	default:
		var err error
		if count, err = strconv.Atoi(how); err != nil || count < 1 {
			return fmt.Errorf("events: %q is neither a count nor end, quiet or eof", how)
		}
	}
	return s.collect(result, w, how, count, marker, limit)
}

// collect reads until the count, the marker, the end, or the time limit without an event.
func (s *Session) collect(result *Result, w *watch, how string, count int, marker string, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for count != 0 {
		if w.ended != "" {
			result.End = w.ended
			return nil
		}
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-timer.C:
			if how != "quiet" {
				result.End = "nothing more"
			}
			return nil
		case f := <-w.frames:
			if f.end != "" {
				w.ended = f.end
				if s.restarts > w.restarts {
					// A process that exits closes its connections, one that is killed breaks them.
					w.ended = "ended by the restart"
				}
				continue
			}
			if marker != "" && eventName(f.event) == marker {
				return nil
			}
			if wrong := w.advance(f.event); wrong != "" {
				result.Body = wrong
			}
			if isBookmark(f.event) && !s.shown(f.event, result.Events) {
				continue
			}
			result.Events = append(result.Events, s.norm.document(f.event))
			count--
			timer.Reset(limit)
		}
	}
	return nil
}

func isBookmark(event any) bool {
	m, _ := event.(map[string]any)
	return m["type"] == "BOOKMARK"
}

// shown reports whether a bookmark is recorded: if it ends the initial state, or in a probe about bookmarks if it does
// not repeat the previous one, since the number of repetitions near the end of a watch depends on timing.
func (s *Session) shown(event any, before []any) bool {
	meta := eventMetadata(event)
	annotations, _ := meta["annotations"].(map[string]any)
	if annotations["k8s.io/initial-events-end"] != nil {
		return true
	}
	if !s.probe.Bookmarks {
		return false
	}
	n := len(before)
	return n == 0 || compact(before[n-1]) != compact(s.norm.document(event))
}

// advance checks that a bookmark is not older than earlier events, and records the highest revision delivered.
func (w *watch) advance(event any) string {
	text, _ := eventMetadata(event)["resourceVersion"].(string)
	rv, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return ""
	case isBookmark(event) && rv < w.reached:
		return "a bookmark is older than an event before it"
	}
	w.reached = max(w.reached, rv)
	return ""
}

// drain reads to the end. How far the server gets is up to the server, but it must not skip anything.
func (s *Session) drain(result *Result, name string) error {
	all := Result{}
	if err := s.events(&all, name, "eof"); err != nil {
		return err
	}
	result.End = all.End
	last := int64(-1)
	for _, event := range all.Events {
		text, _ := event.(string)
		m := offsetText.FindStringSubmatch(text)
		if m == nil {
			return fmt.Errorf("drain: no revision in event %q: the probe must be !brief", text)
		}
		offset, _ := strconv.ParseInt(m[1], 10, 64)
		if last >= 0 && offset != last+1 {
			result.Body = fmt.Sprintf("revision %d follows %d", offset, last)
			return nil
		}
		last = offset
	}
	result.Body = "every revision"
	return nil
}

// offsetText matches the revision in a brief event.
var offsetText = regexp.MustCompile(` R\+([0-9]+)`)

// mark creates the object whose event ends a reading. extra is merged into it, to match selectors.
func (s *Session) mark(where location, extra string) (string, error) {
	s.marks++
	name := markerName + strconv.Itoa(s.marks)
	l := location{resource: where.resource, namespace: where.namespace, name: name}
	if l.namespace == "" && l.resource == "gizmos" {
		l.namespace = defaultNamespace
	}
	target := l.resource + "/" + name
	if l.namespace != "" {
		target = l.resource + "@" + l.namespace + "/" + name
	}
	if extra == "" {
		extra = "{}"
		if l.resource == "sprockets" {
			extra = "{spec: {teeth: 1}}"
		}
	}
	var created Result
	r, err := request(s.target.Root(), Step{Verb: "create"}, target, extra)
	if err != nil {
		return "", err
	}
	s.send(&created, r, Step{})
	if created.Code != http.StatusCreated {
		return "", fmt.Errorf("create marker %s: %d %s", target, created.Code, compact(created.Body))
	}
	return name, nil
}

// eventName returns the name of the object in an event of any form.
func eventName(event any) string {
	name, _ := eventMetadata(event)["name"].(string)
	return name
}

// eventMetadata returns the metadata of the object in an event, or of the row of a table.
func eventMetadata(event any) map[string]any {
	m, _ := event.(map[string]any)
	object, _ := m["object"].(map[string]any)
	if rows, ok := object["rows"].([]any); ok && len(rows) == 1 {
		row, _ := rows[0].(map[string]any)
		object, _ = row["object"].(map[string]any)
	}
	meta, _ := object["metadata"].(map[string]any)
	return meta
}
