package subjects

import (
	"regexp"
	"strings"
)

// ending is the line with which Go and klog begin to say why they end a process: a panic that nobody recovers, concurrent map writes, klog.Fatal.
var ending = regexp.MustCompile(`(?m)^(panic: |fatal error: |F[0-9]{4} [0-9:.]+ +[0-9]+ )`)

// maxEnding bounds the lines that LastWords returns.
const maxEnding = 30

// EndedProcess begins the message of a run that has ended the process that made it, or that of its client-go.
const EndedProcess = "the run has ended its process:"

// LastWords returns why a process has ended by its own doing, from what it wrote to its standard error; "" if that does not say so.
func LastWords(stderr string) string {
	at := ending.FindStringIndex(stderr)
	if at == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(stderr[at[0]:]), "\n")
	return strings.Join(lines[:min(len(lines), maxEnding)], "\n")
}
