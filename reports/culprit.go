package reports

import (
	"regexp"
	"slices"
	"strings"
)

// Culprit returns what the message of a violation names as wrong, where that says more than the run: the function that panics, hangs or leaves a goroutine
// behind, or the call that gets a wrong answer. It is "" where a property is about what came of the run.
func (v *Violation) Culprit() string {
	lines := strings.Split(v.Message, "\n")
	switch v.Property {
	case "NoPanic":
		at := slices.IndexFunc(lines, func(line string) bool {
			return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.Contains(line, ": panic: ")
		})
		if at < 0 && len(lines) > 1 && exits.MatchString(lines[1]) {
			return exits.ReplaceAllString(lines[1], "$1")
		}
		if at < 0 {
			return ""
		}
		return lines[at] + " in " + function(lines[at+1:])
	case "NoLeak", "NoDeadlock":
		if strings.Contains(lines[0], "without ever waiting") {
			return "a hot loop in " + spinning(lines)
		}
		// The first line says what kind of thing happened, the next ones where; those of hung steps have both in one.
		_, in, _ := strings.Cut(lines[min(1, len(lines)-1)], " in ")
		if _, hung, ok := strings.Cut(lines[0], "of real time it is in "); ok {
			in = hung
		}
		in, _, _ = strings.Cut(in, ", called by ")
		in, _, _ = strings.Cut(in, ", started by ")
		return strings.TrimSuffix(function([]string{"in " + in}), ".")
	case "LibraryAgrees", "CallsRefused": // PART: CALL: GOT, want WANT
		call := firstOf(v.Message, 2)
		if at := strings.Index(v.Message, ": panic"); at >= 0 {
			what, _, _ := strings.Cut(v.Message[at:], "\n")
			call = firstOf(v.Message, 1) + strings.TrimSuffix(what, ", want returns")
		}
		return call
	case "ServerAgrees": // REQUEST: WHAT: GOT, want WANT
		if strings.HasPrefix(v.Message, "with the fault ") || strings.HasPrefix(v.Message, "of ") { // PART: WHAT: GOT, want WANT
			return firstOf(v.Message, 2)
		}
		request, rest, _ := strings.Cut(v.Message, " ")
		if what, _, ok := strings.Cut(rest, " of "); ok && request == "a" {
			request += " " + what
		}
		return request + ": " + firstOf(strings.TrimPrefix(v.Message, firstOf(v.Message, 1)+": "), 1)
	}
	return ""
}

// exits is what a process says that ends without a panic: its exit status, or the words of klog.Fatal behind their time.
var exits = regexp.MustCompile(`^(?:(exit status [0-9]+)$|F[0-9]{4} [0-9:.]+ +[0-9]+ )`)

// spinning returns the outermost function of the first stack that a message lists, which is the same wherever in a loop it was taken. Those of Go's library, and
// of the one that starts goroutines, say nothing.
func spinning(lines []string) (outermost string) {
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "The whole stack") })
	for _, line := range lines[min(at+2, len(lines)):] { // behind the first one's state
		name := strings.TrimLeft(line, " >")
		first, _, inFolder := strings.Cut(name, "/")
		switch {
		case strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "    "):
			return outermost // the next one begins
		case strings.HasPrefix(line, "        "), strings.HasPrefix(name, "started by "), strings.Contains(name, "/util/wait."), inFolder && !strings.Contains(first, "."), !inFolder && !strings.HasPrefix(name, "main."):
			continue
		}
		outermost = name[strings.LastIndex(name, "/")+1:]
	}
	return outermost
}

// firstOf returns the first of the parts that colons separate.
func firstOf(text string, n int) string {
	text, _, _ = strings.Cut(text, " (with the queue ")
	parts := strings.SplitN(text, ": ", n+1)
	return strings.Join(parts[:min(n, len(parts))], ": ")
}

// function returns the first function that a stack names that is none of Go's own, without its package's path: in lines like "  in F (file.go:12)", or in what Go says of a panic that
// ends a process.
func function(lines []string) string {
	for _, line := range lines {
		name, isOurs := strings.CutPrefix(strings.TrimSpace(line), "in ")
		if !isOurs && (strings.HasPrefix(line, "\t") || !strings.Contains(line, "(")) {
			continue
		}
		if at := strings.LastIndex(name, " ("); isOurs && at > 0 {
			name = name[:at]
		} else if at := strings.LastIndex(name, "("); !isOurs {
			name = name[:at]
		}
		if name != "panic" && !strings.HasPrefix(name, "runtime.") {
			return name[strings.LastIndex(name, "/")+1:]
		}
	}
	return ""
}
