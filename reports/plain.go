package reports

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Plain returns text that is safe to print on a terminal. Scripts, traces and recordings come from anywhere: a name in them may
// hold an escape sequence, a carriage return that hides what stands before it, or an override of the writing direction. Newlines,
// tabs and everything visible stay; the rest is escaped. The escapes are those of JSON, so JSON keeps its meaning.
func Plain(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case printable(r):
			b.WriteRune(r)
		case r == '\r':
			b.WriteString(`\r`)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

// PlainLine is [Plain] for what stands on one line: a newline in it could make up others.
func PlainLine(text string) string {
	text = Plain(text)
	if !strings.ContainsAny(text, "\n\t") {
		return text
	}
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text)
}

func printable(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) }

func isPlain(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !printable(r) }) < 0
}

// PlainWriter passes on what is written to it as [Plain] text. A rune that is never completed is not written.
type PlainWriter struct {
	w    io.Writer
	rest []byte // the start of a rune whose end is still to come
}

// NewPlainWriter returns a writer that writes plain text to w.
func NewPlainWriter(w io.Writer) *PlainWriter { return &PlainWriter{w: w} }

// Unwrap returns the writer behind this one.
func (p *PlainWriter) Unwrap() io.Writer { return p.w }

// Write implements io.Writer.
func (p *PlainWriter) Write(data []byte) (int, error) {
	text := append(p.rest, data...)
	end := len(text)
	for i := 1; i <= min(utf8.UTFMax-1, len(text)); i++ {
		if last := text[len(text)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				end -= i
			}
			break
		}
	}
	p.rest = append([]byte(nil), text[end:]...)
	if end > 0 {
		if _, err := io.WriteString(p.w, Plain(string(text[:end]))); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}
