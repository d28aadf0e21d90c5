package reports

import (
	"fmt"
	"strings"
)

// ShellQuote returns a word as a POSIX shell reads it: bare if it is harmless, otherwise in single quotes. A word with characters
// that cannot be printed (see [Plain]) becomes a command that prints them, so that the line can be shown and pasted.
func ShellQuote(word string) string {
	switch {
	case word != "" && strings.IndexFunc(word, specialInShell) < 0:
		return word
	case isPlain(word) && !strings.ContainsAny(word, "\n\t"):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString(`"$(printf '`)
	for i := range len(word) {
		if c := word[i]; specialInShell(rune(c)) && c != ' ' || c == '%' {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteString(`')"`)
	// A substitution loses its last newlines.
	b.WriteString(strings.Repeat("'\n'", len(word)-len(strings.TrimRight(word, "\n"))))
	return b.String()
}

// ShellPath is [ShellQuote] of a file's name; one that begins with a dash is not taken for a flag.
func ShellPath(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return ShellQuote(path)
}

// specialInShell reports whether a character needs quotes.
func specialInShell(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-/+:@%", c))
}
