package probe

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// stepTimeout bounds one request; the slowest answer takes three seconds by design (S5).
const stepTimeout = 20 * time.Second

// comparedHeaders are the response headers shown in transcripts.
var comparedHeaders = []string{"Content-Type", "Retry-After", "Warning", "Allow", "Location"}

// A Session plays one probe against one target.
type Session struct {
	target Target
	client *http.Client
	ctx    context.Context
	probe  Probe
	base   int64
	norm   *normaliser
	saved  map[string]answer
	watch  map[string]*watch
	marks  int
	turn   int
	// restarts counts the restarts of the server.
	restarts int
}

// Run plays a probe: it empties the conformance resources, records the current revision and plays the steps. An error
// means that the probe could not be played; it is never about an answer.
func Run(ctx context.Context, target Target, p Probe) (Transcript, error) {
	ctx, cancel := context.WithCancel(ctx)
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8}
	defer transport.CloseIdleConnections()
	defer cancel()
	s := &Session{
		target: target, client: &http.Client{Transport: transport, CheckRedirect: noRedirect}, ctx: ctx, probe: p,
		saved: map[string]answer{}, watch: map[string]*watch{},
	}
	t := Transcript{Name: p.Name, Cites: p.Cites}
	if err := s.begin(); err != nil {
		return t, fmt.Errorf("probe %s: %w", p.Name, err)
	}
	if p.Builtin {
		// A server is left as it was found: the next probe may not name what this one made, and yet be touched by it.
		defer s.cleanBuiltin()
	}
	base, err := s.revision()
	if err != nil {
		return t, fmt.Errorf("probe %s: %w", p.Name, err)
	}
	s.base, s.norm = base, newNormaliser(p, base)
	if err := s.alignToSecond(); err != nil {
		return t, err
	}
	for i, step := range p.Steps {
		for s.turn = range max(step.Times, 1) {
			result, err := s.play(step)
			if err != nil {
				return t, fmt.Errorf("probe %s, step %d (%.80s): %w", p.Name, i+1, step.Text, err)
			}
			if !step.Unseen {
				t.Steps = append(t.Steps, result)
			} else if result.Error != "" || result.Code >= http.StatusBadRequest {
				return t, fmt.Errorf("probe %s, step %d (%.80s): preparation failed: %d %s%.300s",
					p.Name, i+1, step.Text, result.Code, result.Error, compact(result.Body))
			}
		}
	}
	return t, nil
}

// begin empties the resources of the probe.
func (s *Session) begin() error {
	if s.probe.Builtin {
		return s.beginBuiltin()
	}
	return clean(s.ctx, s.client, s.target.Root())
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// wholeSecond is the part of a wall-clock second that must be left when a probe of managedFields begins.
const wholeSecond = 400 * time.Millisecond

// alignToSecond waits so that a probe with applies begins early in a second: managedFields are ordered by the second in
// which they were written, and an apply that changes nothing but this order is a write.
func (s *Session) alignToSecond() error {
	applies := s.probe.ManagedFields
	for _, step := range s.probe.Steps {
		applies = applies || step.Verb == "apply" || step.Verb == "PATCH"
	}
	left := time.Second - time.Duration(time.Now().Nanosecond())
	if !applies || left > wholeSecond {
		return nil
	}
	return s.sleep(left.String())
}

// play plays one step.
func (s *Session) play(step Step) (Result, error) {
	result := Result{Do: step.Text}
	target, err := s.expand(step.Target)
	if err != nil {
		return result, err
	}
	rest, err := s.expand(step.Rest)
	if err != nil {
		return result, err
	}
	switch step.Verb {
	case "watch":
		return result, s.openWatch(&result, step, target, rest)
	case "events":
		return result, s.events(&result, target, rest)
	case "drain":
		return result, s.drain(&result, target)
	case "close":
		s.closeWatch(target)
		return result, nil
	case "revision":
		rv, err := s.revision()
		result.Body = s.norm.revision(strconv.FormatInt(rv, 10))
		if step.Save != "" {
			s.saved[step.Save] = answer{rv: strconv.FormatInt(rv, 10)}
		}
		return result, err
	case "compact":
		return result, s.compact(rest)
	case "restart":
		s.restarts++
		return result, s.target.Restart(s.ctx)
	case "sleep":
		return result, s.sleep(target)
	}
	s.norm.sent(rest)
	s.norm.sent(target)
	if step.Headers, err = s.expandHeaders(step.Headers); err != nil {
		return result, err
	}
	r, err := request(s.target.Root(), step, target, rest)
	if err != nil {
		return result, err
	}
	l := parseTarget(target)
	if r.Method != http.MethodPost && r.URL.Query().Has("resourceVersion") || r.Method == http.MethodDelete && l.name == "" || step.Verb == "apply" {
		s.freshen(l)
	}
	s.send(&result, r, step)
	return result, nil
}

// freshen makes the watch cache catch up by a consistent list, which waits for it, so that answers are not stale. Whether
// an apply that changes only parts of the store that are not read back is a write also depends on the cache. A failure
// shows in the step itself.
func (s *Session) freshen(l location) {
	if l.resource != "" {
		listAll(s.ctx, s.client, s.target.Root(), location{resource: l.resource, namespace: l.namespace}.collection())
	}
}

// send makes a request and records the answer.
func (s *Session) send(result *Result, r *http.Request, step Step) {
	ctx, cancel := context.WithTimeout(s.ctx, stepTimeout)
	defer cancel()
	resp, err := s.client.Do(r.WithContext(ctx))
	if err != nil {
		result.Error = failure(err)
		return
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		result.Error = failure(err)
	}
	s.head(result, resp)
	for _, h := range step.Headers {
		if h.Name == "Show" {
			s.show(result, resp.Header, h.Value)
		}
	}
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if data, err = unzip(data); err != nil {
			result.Error = "bad gzip"
		}
	}
	s.body(result, resp.Header.Get("Content-Type"), data, step)
}

// show records an additional header; of an entity tag or identifier, only its presence.
func (s *Session) show(result *Result, header http.Header, name string) {
	if result.Headers == nil {
		result.Headers = map[string]string{}
	}
	switch value := header.Get(name); {
	case value == "":
		result.Headers[name] = "absent"
	case name == "Etag" || name == "Audit-Id" || name == "Date" || name == "Last-Modified":
		result.Headers[name] = "present"
	default:
		result.Headers[name] = value
	}
}

func unzip(data []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// failure classifies an error below HTTP, whose text contains ports and differs between runs.
func failure(err error) string {
	var netErr net.Error
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "connection ended early"
	case errors.As(err, &netErr) && netErr.Timeout():
		return "no answer in time"
	}
	return "connection failed"
}

// head records status and headers.
func (s *Session) head(result *Result, resp *http.Response) {
	result.Code = resp.StatusCode
	for _, name := range comparedHeaders {
		values := resp.Header.Values(name)
		if len(values) == 0 || name == "Content-Type" && values[0] == "application/json" {
			continue
		}
		if result.Headers == nil {
			result.Headers = map[string]string{}
		}
		text, _ := s.norm.text("", strings.Join(values, "; ")).(string)
		result.Headers[name] = text
	}
}

// body decodes, saves and normalises a body.
func (s *Session) body(result *Result, contentType string, data []byte, step Step) {
	if s.probe.Form {
		result.Form = form(data)
	}
	if len(data) == 0 {
		return
	}
	var v any
	var err error
	switch {
	case strings.Contains(contentType, "json"):
		v, err = decode(data)
	case strings.Contains(contentType, "yaml"):
		var converted []byte
		if converted, err = yaml.YAMLToJSON(data); err == nil {
			v, err = decode(converted)
		}
	case strings.Contains(contentType, "protobuf"), strings.Contains(contentType, "cbor"):
		result.Body = "<binary>"
		return
	default:
		err = errors.New("text")
	}
	if err != nil {
		result.Body = s.norm.text("", string(data))
		return
	}
	if step.Save != "" {
		s.keep(step.Save, v)
	}
	for _, h := range step.Headers {
		switch h.Name {
		case "Pick":
			v = pick(v, h.Value)
		case "Keys":
			v = keys(v)
		}
	}
	result.Body = s.norm.document(v)
}

// keep saves an answer's metadata; an answer without any, such as a Status, leaves the variable unchanged.
func (s *Session) keep(name string, v any) {
	m, _ := v.(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	if m["kind"] == "Status" || meta == nil {
		return
	}
	text := func(key string) string { value, _ := meta[key].(string); return value }
	status, _ := m["status"].(map[string]any)
	bearer, _ := status["token"].(string)
	s.saved[name] = answer{rv: text("resourceVersion"), uid: text("uid"), name: text("name"), token: text("continue"), bearer: bearer}
}

// form describes how a body is formatted (S38).
func form(data []byte) string {
	form := "compact"
	if bytes.Contains(bytes.TrimSpace(data), []byte("\n")) {
		form = "many lines"
	}
	if bytes.HasSuffix(data, []byte("\n")) {
		form += ", final newline"
	}
	return form
}

// pick follows a JSON pointer (RFC 6901), in which =NAME stands for the list item with that metadata.name or name. It
// returns nil if the pointer does not resolve.
func pick(v any, pointer string) any {
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch container := v.(type) {
		case map[string]any:
			v = container[part]
		case []any:
			if name, named := strings.CutPrefix(part, "="); named {
				v = itemNamed(container, name)
				continue
			}
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(container) {
				return nil
			}
			v = container[i]
		default:
			return nil
		}
	}
	return v
}

func itemNamed(items []any, name string) any {
	for _, item := range items {
		m, _ := item.(map[string]any)
		meta, _ := m["metadata"].(map[string]any)
		if m["name"] == name || meta["name"] == name {
			return item
		}
	}
	return nil
}

// keys returns the keys of an object.
func keys(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	var out []any
	for _, key := range sortedKeys(m) {
		out = append(out, key)
	}
	return out
}

// revision returns the current revision, taken from a consistent empty list.
func (s *Session) revision() (int64, error) {
	empty := location{resource: "gizmos", namespace: "absent"}
	if s.probe.Builtin {
		empty.resource = "configmaps"
	}
	list, err := listAll(s.ctx, s.client, s.target.Root(), empty.collection())
	if err != nil {
		return 0, err
	}
	rv, err := strconv.ParseInt(list.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the list's resourceVersion is %q: %w", list.Metadata.ResourceVersion, err)
	}
	return rv, nil
}

// compact carries out a step with the arguments [storage] [RV].
func (s *Session) compact(rest string) error {
	words, storageOnly, revision := strings.Fields(rest), false, int64(0)
	for _, word := range words {
		if word == "storage" {
			storageOnly = true
			continue
		}
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return fmt.Errorf("compact: revision %q is not a number", word)
		}
		revision = n
	}
	return s.target.Compact(s.ctx, revision, storageOnly)
}

func (s *Session) sleep(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("sleep: %w", err)
	}
	select {
	case <-time.After(d):
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}
