package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

var (
	// inBlock is a line of a block of code that starts the command, inProse the same within a sentence.
	inBlock = regexp.MustCompile(`^\s*(?:go run \./cmd/)?informersim (.+)$`)
	inProse = regexp.MustCompile("`(?:go run \\./cmd/)?informersim ([^`\n]+)`")
	// notOurs begins what a shell does with a command's output, or a comment.
	notOurs = regexp.MustCompile(`\s(#|\||>|&&|2>|<|;)|…|\.\.\.$`)
)

// linesOf returns what comes after the command's name, wherever a page has it.
func linesOf(page string) (all []string) {
	fenced := false
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if m := inBlock.FindStringSubmatch(line); m != nil && (fenced || strings.HasPrefix(line, "    ")) {
			all = append(all, m[1])
			continue
		}
		for _, m := range inProse.FindAllStringSubmatch(line, -1) {
			all = append(all, m[1])
		}
	}
	return all
}

// Each command line of the pages names a command that there is, with flags that it has and values that they take. What it does is run by the tests of
// that command.
func TestCommandsOfPages(t *testing.T) {
	pages := []string{"../../README.md", "../../CONTRIBUTING.md", "../../ARCHITECTURE.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/museum/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	lines, commands := 0, map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range linesOf(string(text)) {
			if at := notOurs.FindStringIndex(line); at != nil {
				line = line[:at[0]]
			}
			args := strings.Fields(strings.NewReplacer(`"`, "", `'`, "", "[", "", "]", "").Replace(line))
			root := newRoot(args)
			c, rest, err := root.Find(args)
			if line == "trace" {
				continue // the name of a Ginkgo report entry
			}
			if err != nil || c == root {
				t.Errorf("%s: informersim %s: there is no such command (%v)", page, line, err)
				continue
			}
			lines++
			commands[c.Name()] = true
			if c.DisableFlagParsing {
				continue
			}
			// A sentence may name a flag without its value.
			if err := c.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) && !errors.As(err, new(*pflag.ValueRequiredError)) {
				t.Errorf("%s: informersim %s: %v", page, line, err)
			}
		}
	}
	if lines < 100 || len(commands) < 15 {
		t.Errorf("there are %d lines with %d commands: they are no longer found", lines, len(commands))
	}
}
