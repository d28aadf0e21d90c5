package terminal

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Width is the number of columns that texts have.
const Width = 80

// Wrapped breaks a line at spaces. What follows the first part is indented, and so is a word that is longer than a line.
func Wrapped(line string, width, indent int) []string {
	var lines []string
	for utf8.RuneCountInString(line) > width {
		end, column, cut := 0, 0, -1
		for i, r := range line {
			if column == width {
				end = i
				break
			}
			if r == ' ' && column > indent {
				cut = i
			}
			column++
		}
		if cut < 0 || strings.TrimSpace(line[:cut]) == "" {
			rest := strings.IndexByte(line[end:], ' ') // a name, or a command: it stays whole
			if rest < 0 {
				break
			}
			cut = end + rest
		}
		lines = append(lines, strings.TrimRight(line[:cut], " "))
		line = strings.Repeat(" ", indent) + strings.TrimLeft(line[cut:], " ")
	}
	return append(lines, line)
}

const (
	reset = "\x1b[0m"
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
)

var (
	verdictLine = regexp.MustCompile(`^(FAIL|PASS|DIED|STUCK|TIMEOUT|INTERRUPTED|CUT OFF)( .*)$`)
	titleLine   = regexp.MustCompile(`^  [a-z]`)
	stepLine    = regexp.MustCompile(`^(\s+(?:because )?)(step \d+ *(?:\([^)]*\):|[0-9.hmsµn]+))(  (?:\S+ {2,}|\S{12,} ))?(.*)$`)
	commandLine = regexp.MustCompile(`^    (?:informersim|go test) `)
)

// Paint fits plain text to a terminal: lines are broken at its width, and verdicts, steps and faults have colors. Commands stay whole, so
// that they can be copied.
func Paint(text string, width int) string {
	var b strings.Builder
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for n, line := range all {
		if titles := n > 0 && all[n-1] == "" && n+1 < len(all) && strings.HasPrefix(all[n+1], "    "); titles && titleLine.MatchString(line) {
			b.WriteString(bold + line + reset + "\n")
			continue
		}
		if commandLine.MatchString(line) {
			b.WriteString(bold + line + reset + "\n")
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " ")) + 2
		if m := stepLine.FindStringSubmatchIndex(line); m != nil && m[8] < width/2 {
			indent = m[8]
		}
		for i, part := range Wrapped(line, width, indent) {
			if i > 0 {
				b.WriteString(part + "\n")
				continue
			}
			b.WriteString(painted(part) + "\n")
		}
	}
	if !strings.HasSuffix(text, "\n") {
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}

// painted colors a line, or the first part of one.
func painted(line string) string {
	if m := verdictLine.FindStringSubmatch(line); m != nil {
		color := red
		if m[1] == "PASS" {
			color = green
		}
		return bold + color + m[1] + reset + bold + m[2] + reset
	}
	if m := stepLine.FindStringSubmatch(line); m != nil {
		text := m[4]
		if strings.HasPrefix(text, "FAULT ") {
			text = red + text + reset
		}
		return m[1] + dim + m[2] + m[3] + reset + text
	}
	return line
}
