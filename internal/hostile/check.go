package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The limits of a message.
const (
	longestMessage = 1100 // bytes of its line: a list of every fault is the longest
	mostLines      = 8
)

// inner are traces of the program's inside, which no message shows.
var inner = []*regexp.Regexp{
	regexp.MustCompile(`panic|goroutine \d|runtime error|nil pointer`),
	regexp.MustCompile(`%![a-zA-Z(]`),
	regexp.MustCompile(`<nil>|\[\]uint8|interface \{\}|map\[string\]|\bGo (?:value|struct)\b`),
	regexp.MustCompile(`(?:^|[\s(*&])\*?(?:v1|sim|fault|script|scenarios|recording|metav1|api|json|main|crd|rest|store|subjects|reports|clientcmdapi)\.[A-Z][A-Za-z]+`),
	regexp.MustCompile(`\b0xc[0-9a-f]{9}\b`),
}

// badText returns what is wrong with printed text. given is the input: what it says may be repeated.
func badText(text, given string) (faults []string) {
	if !utf8.ValidString(text) {
		faults = append(faults, "it prints bytes that are not UTF-8")
	}
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			faults = append(faults, fmt.Sprintf("it prints the control character %U", r))
			break
		}
	}
	for _, re := range inner {
		if found := re.FindString(text); found != "" && !strings.Contains(given, strings.TrimSpace(found)) {
			faults = append(faults, fmt.Sprintf("it prints %q", found))
		}
	}
	return faults
}

// badError returns what is wrong with the error output of a refused input.
func badError(stderr string, in *input) (faults []string) {
	var errs []string
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "error: ") {
			errs = append(errs, strings.TrimSuffix(line, "\n"))
		}
	}
	if len(errs) != 1 {
		return []string{fmt.Sprintf("it prints %d errors, and one is right", len(errs))}
	}
	message := errs[0]
	if len(message) > longestMessage {
		faults = append(faults, fmt.Sprintf("the message has %d bytes", len(message)))
	}
	if strings.Count(stderr, "\n") > mostLines {
		faults = append(faults, fmt.Sprintf("the error has %d lines", strings.Count(stderr, "\n")))
	}
	if len(strings.Fields(message)) < 4 {
		faults = append(faults, "the message says too little")
	}
	if in.place != "" && !strings.Contains(message, in.place) {
		faults = append(faults, fmt.Sprintf("the message does not name %s", in.place))
	}
	if in.hasLine && !regexp.MustCompile(regexp.QuoteMeta(in.place)+`:\d+|line \d+|document \d+|byte \d+|the recording has|there is no command in it`).MatchString(message) {
		faults = append(faults, "the message names no line")
	}
	return faults
}

// shown is text for a terminal: quoted line by line, and not too much of it.
func shown(text string) string {
	const most = 700
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ReplaceAll(fmt.Sprintf("%q", text), `\n`, "\n      ")
}
