package script

import (
	"strings"
	"unicode/utf8"
)

// separator starts an expected output.
const separator = "----"

// parseOutput parses the expected output whose `----` is line l; above is the command on the line before, or nil.
func (p *parser) parseOutput(l span, above *Command) {
	p.skip(l)
	out := &Output{Pos: p.pos(l, l.start+leadingBlanks(p.text(l))), start: l.start}
	if above == nil {
		p.fail(out.Pos, "put it on the line directly below a command", "the ---- of an expected output does not follow a command")
	}
	fence := 0
	if p.off < len(p.src) {
		first := p.peek()
		if fence = dashes(p.text(first)); fence > 0 {
			p.skip(first)
		}
	}
	if out.Fenced = fence > 0; out.Fenced {
		out.Text = p.fencedOutput(out.Pos, fence)
	} else {
		out.Text = p.plainOutput()
	}
	out.end = p.off
	if above != nil {
		above.Output = out
	}
}

// plainOutput reads the lines up to a blank line, which it does not consume, or the end of the file.
func (p *parser) plainOutput() string {
	var b strings.Builder
	for p.off < len(p.src) {
		l := p.peek()
		text := p.text(l)
		if isBlank(text) {
			break
		}
		if dashes(text) == len(separator) {
			p.fail(p.pos(l, l.start), "end the output with a blank line, or fence it with two lines of ---- before and after it",
				"there is a ---- inside an expected output")
		}
		b.WriteString(text)
		b.WriteByte('\n')
		p.skip(l)
	}
	return b.String()
}

// fencedOutput reads the lines up to the closing fence: two lines of as many dashes as the opening one.
func (p *parser) fencedOutput(start Pos, fence int) string {
	from, end, closing := p.off, p.off, 0
	for p.off < len(p.src) {
		l := p.peek()
		p.skip(l)
		if dashes(p.text(l)) != fence {
			closing = 0
			continue
		}
		if closing == 0 {
			end = l.start
		}
		if closing++; closing == 2 {
			return joinLines(p.src[from:end])
		}
	}
	p.fail(start, "end it with two lines of "+strings.Repeat("-", min(fence, 80)), "the fenced output is not terminated")
	return ""
}

// dashes returns the number of dashes in a line that consists of four or more of them, or 0.
func dashes(line string) int {
	line = strings.Trim(line, " \t")
	if len(line) < len(separator) || strings.Trim(line, "-") != "" {
		return 0
	}
	return len(line)
}

// NormalizeOutput returns the output of a command in the form of Output.Text, which a script can hold: valid UTF-8 without
// NUL bytes, no carriage return before a newline, and a final newline unless it is empty. Compare outputs in this form.
func NormalizeOutput(text string) string {
	if text == "" {
		return ""
	}
	text = cleanText(text)
	if !strings.Contains(text, "\r") && strings.HasSuffix(text, "\n") {
		return text
	}
	return joinLines(text)
}

// joinLines ends each line of text with a newline and drops the carriage returns before it.
func joinLines(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		b.WriteString(strings.TrimRight(line, "\r"))
		b.WriteByte('\n')
	}
	return b.String()
}

// cleanText replaces NUL bytes and invalid UTF-8, which a script must not contain.
func cleanText(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	}
	return text
}

// appendOutput appends the block of an expected output. If ended, a blank line or the end of the file follows, so the block
// needs no fence to end it. One that the author has put there stays.
func appendOutput(dst []byte, text string, fenced, ended bool, eol string) []byte {
	text = NormalizeOutput(text)
	fence := 0
	if longest := longestDashes(text); fenced || !ended || longest > 0 || hasBlankLine(text) {
		fence = max(len(separator), longest+1)
	}
	dst = append(dst, separator+eol...)
	if fence > 0 {
		dst = append(dst, strings.Repeat("-", fence)+eol...)
	}
	dst = append(dst, strings.ReplaceAll(text, "\n", eol)...)
	if fence > 0 {
		rule := strings.Repeat("-", fence) + eol
		dst = append(dst, rule+rule...)
	}
	return dst
}

func longestDashes(text string) int {
	longest := 0
	for line := range strings.SplitSeq(text, "\n") {
		longest = max(longest, dashes(line))
	}
	return longest
}

func hasBlankLine(text string) bool {
	if text == "" {
		return false
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if isBlank(line) {
			return true
		}
	}
	return false
}
