package probe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Probe is a named script.
type Probe struct {
	// Name is unique, its parts separated by slashes: area/what.
	Name string
	// Cites are the behaviours of docs/spec it demonstrates (I108, S12).
	Cites []string
	// Brief shows objects as one line each: for probes about which objects appear rather than their content.
	Brief bool
	// ManagedFields shows managedFields whole instead of a line per entry.
	ManagedFields bool
	// Form adds the formatting of bodies (compact, pretty, final newline).
	Form bool
	// Bookmarks shows every bookmark. Without it those that do not end an initial state are only checked: their timing is
	// up to the server.
	Bookmarks bool
	// AnyRevision shows revisions as R+?: for probes of a server's controllers, whose writes may conflict and be retried.
	AnyRevision bool
	// Builtin probes are of built-in kinds: their server is a kube-apiserver. It is set by who loads them, not written.
	Builtin bool
	// Slow probes wait for the server's own timers; they are started first.
	Slow bool
	// Steps are played in order.
	Steps []Step
}

// A Step is one line of a script.
type Step struct {
	// Text is the line as written, without indentation.
	Text string
	// Line is its line number, from 1; 0 if it was not read from a file.
	Line int
	// Unseen steps are preparation: their answers are not recorded.
	Unseen bool
	// Times is the number of times an unseen step is played, with ${i} counting from 0.
	Times int
	// Save names the variable in which the answer is saved; empty for none.
	Save string
	// Verb and Target are the first two words; Rest follows the headers.
	Verb, Target, Rest string
	// Headers are the bracketed words.
	Headers []Header
}

// A Header is a request header, or an instruction about the answer: Pick shows a part of the body, Keys its keys, and Show
// a response header that is not shown by default.
type Header struct{ Name, Value string }

// instructions are the names of headers that are not sent.
var instructions = map[string]bool{"Pick": true, "Keys": true, "Show": true}

var (
	timesWord  = regexp.MustCompile(`^([1-9][0-9]{0,4})x `)
	saveWord   = regexp.MustCompile(`^([a-z][A-Za-z0-9]*) = `)
	headerWord = regexp.MustCompile(`^\[([A-Za-z-]+): ?([^\]]*)\]\s*`)
)

// verbs maps the words with which a step may begin to whether a target must follow.
var verbs = map[string]bool{
	"GET": true, "POST": true, "PUT": true, "PATCH": true, "DELETE": true, "HEAD": true, "OPTIONS": true, "TRACE": true,
	"create": true, "put": true, "merge": true, "json": true, "strategic": true, "apply": true, "get": true,
	"list": true, "delete": true,
	"watch": true, "events": true, "drain": true, "close": true,
	"revision": false, "compact": false, "restart": false, "sleep": true,
}

// Parse parses the probes in text. Errors refer to it as file.
//
// A probe begins with a line `probe NAME [CITE]... [!OPTION]...` where an option is brief, managedFields, form,
// bookmarks, anyRevision or slow. The lines below it are its steps; `#` begins a comment line. A step is
//
//	[~ [Nx]] [VAR =] VERB TARGET [HEADER]... [BODY]
//
// where ~ keeps the answer out of the transcript, Nx plays the step N times with ${i} counting from 0, VAR saves the
// answer for later lines, a header is written [Name: value], and the body is flow YAML, sent as JSON, or a double-quoted
// Go string, sent verbatim.
//
//	GET POST PUT PATCH DELETE HEAD OPTIONS TRACE   send the request as written
//	create get list put merge json strategic apply delete   the same with body type, apiVersion, kind and name filled in
//	watch W TARGET       opens a watch named W
//	events W N | end [BODY] | quiet | eof   reads N events, or up to a marker object created now, or until none arrives, or to the end
//	drain W              reads to the end and shows only how it ended and whether revisions rose by one
//	close W              closes it from the client's side
//	revision             asks for the current revision
//	compact [storage] [RV]   discards history: of the storage alone, or of the caches too
//	restart              restarts the apiserver
//	sleep DURATION       waits
//
// A target is an absolute path, or RESOURCE[@NAMESPACE][/NAME[/SUBRESOURCE]][?QUERY], with * before the resource for all
// namespaces; the namespace is ns1 when absent. In targets, headers and bodies ${VAR.rv}, ${VAR.rv+N}, ${VAR.uid},
// ${VAR.name}, ${VAR.continue} and ${VAR.bearer} (the token of a TokenRequest) stand for parts of a saved answer, ${base+N} for the revision at which the probe began,
// ${token:RV:KEY} for a made-up continue token and ${repeat:S:N} for N times S.
func Parse(file, text string) ([]Probe, error) {
	var probes []Probe
	for i, line := range strings.Split(text, "\n") {
		number, line := i+1, strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var err error
		switch {
		case strings.HasPrefix(line, "probe "):
			var p Probe
			p, err = parseProbe(line)
			probes = append(probes, p)
		case len(probes) == 0:
			err = fmt.Errorf("a step before the first probe line")
		default:
			var s Step
			s, err = ParseStep(line)
			s.Line = number
			p := &probes[len(probes)-1]
			p.Steps = append(p.Steps, s)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
	}
	return probes, nil
}

func parseProbe(line string) (Probe, error) {
	words := strings.Fields(line)[1:]
	if len(words) == 0 {
		return Probe{}, fmt.Errorf("a probe needs a name")
	}
	p := Probe{Name: words[0]}
	for _, word := range words[1:] {
		switch word {
		case "!brief":
			p.Brief = true
		case "!managedFields":
			p.ManagedFields = true
		case "!form":
			p.Form = true
		case "!bookmarks":
			p.Bookmarks = true
		case "!slow":
			p.Slow = true
		case "!anyRevision":
			p.AnyRevision = true
		default:
			if strings.HasPrefix(word, "!") {
				return p, fmt.Errorf("unknown option %q (want !brief, !managedFields, !form, !bookmarks, !anyRevision or !slow)", word)
			}
			p.Cites = append(p.Cites, word)
		}
	}
	return p, nil
}

// ParseStep parses one step.
func ParseStep(line string) (Step, error) {
	s := Step{Text: line, Times: 1}
	rest := line
	if after, found := strings.CutPrefix(rest, "~"); found {
		s.Unseen, rest = true, strings.TrimSpace(after)
		if m := timesWord.FindStringSubmatch(rest); m != nil {
			s.Times, _ = strconv.Atoi(m[1])
			rest = rest[len(m[0]):]
		}
	}
	if m := saveWord.FindStringSubmatch(rest); m != nil {
		s.Save, rest = m[1], strings.TrimSpace(rest[len(m[0]):])
	}
	s.Verb, rest, _ = strings.Cut(rest, " ")
	needsTarget, known := verbs[s.Verb]
	if !known {
		return s, fmt.Errorf("unknown verb %q", s.Verb)
	}
	rest = strings.TrimSpace(rest)
	if needsTarget {
		s.Target, rest, _ = strings.Cut(rest, " ")
		if s.Target == "" {
			return s, fmt.Errorf("%s needs a target", s.Verb)
		}
	}
	rest = strings.TrimSpace(rest)
	for {
		m := headerWord.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		s.Headers = append(s.Headers, Header{m[1], m[2]})
		rest = rest[len(m[0]):]
	}
	s.Rest = strings.TrimSpace(rest)
	return s, nil
}

// String returns the probe in the syntax of Parse.
func (p Probe) String() string {
	var b strings.Builder
	b.WriteString("probe " + p.Name)
	for _, cite := range p.Cites {
		b.WriteString(" " + cite)
	}
	for _, option := range []struct {
		on   bool
		word string
	}{{p.Brief, "!brief"}, {p.ManagedFields, "!managedFields"}, {p.Form, "!form"}, {p.Bookmarks, "!bookmarks"}, {p.AnyRevision, "!anyRevision"}, {p.Slow, "!slow"}} {
		if option.on {
			b.WriteString(" " + option.word)
		}
	}
	b.WriteString("\n")
	for _, s := range p.Steps {
		b.WriteString(s.Text + "\n")
	}
	return b.String()
}
