package script

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseCommand parses the command whose name starts at off on line l, with its payload if that spans more lines. After an
// error the parser continues on the next line, so that one Parse finds the errors of several commands.
func (p *parser) parseCommand(l span, off int) *Command {
	p.skip(l)
	c := &Command{Pos: p.pos(l, off), lineEnd: l.next}
	failed := len(p.errs)
	p.args = p.args[:0]
	c.Name, off = p.parseName(l, off)
	for len(p.errs) == failed {
		off += leadingBlanks(p.src[off:l.end])
		if off == l.end {
			break
		}
		if p.src[off] == '#' {
			c.Comment = strings.TrimSpace(p.src[off+1 : l.end])
			break
		}
		if p.src[off] == '{' {
			p.parsePayload(c, l, off)
			break
		}
		var arg Arg
		arg, off = p.parseArg(l, off)
		p.args = append(p.args, arg)
	}
	if len(p.args) > 0 {
		c.Args = slices.Clone(p.args)
	}
	if len(p.errs) == failed {
		p.file.Nodes = append(p.file.Nodes, c)
	}
	// A command with an error is returned too: an output below it belongs to it and is not an error of its own.
	return c
}

func (p *parser) parseName(l span, off int) (string, int) {
	end := wordEnd(p.src, off, l.end)
	word := p.src[off:end]
	if !IsName(word) {
		p.fail(p.pos(l, off), "a line is a command, # prose, or ---- below a command", "%s is not a command name", quoteShort(word))
	}
	return word, end
}

// parseArg parses the word at off, which is neither blank nor the start of a comment or payload.
func (p *parser) parseArg(l span, off int) (Arg, int) {
	arg := Arg{Pos: p.pos(l, off)}
	if p.src[off] != '"' {
		end := wordEnd(p.src, off, l.end)
		equals := strings.IndexByte(p.src[off:end], '=')
		quote := strings.IndexByte(p.src[off:end], '"')
		if equals < 0 || quote >= 0 && quote < equals {
			arg.Value = p.parseBare(l, off, end)
			return arg, end
		}
		arg.Key = p.src[off : off+equals]
		if !IsKey(arg.Key) {
			p.fail(arg.Pos, "put a word that contains = but is not key=value in double quotes", "%s is not a key", quoteShort(arg.Key))
			return arg, end
		}
		off += equals + 1
		if off == end {
			p.fail(p.pos(l, off), `write `+arg.Key+`="" for an empty value, and no space after =`, "%s= has no value", arg.Key)
			return arg, end
		}
		if p.src[off] != '"' {
			arg.Value = p.parseBare(l, off, end)
			return arg, end
		}
	}
	var end int
	arg.Value, end = p.parseQuoted(l, off)
	return arg, end
}

// parseBare returns the bare word src[off:end] if it is well-formed.
func (p *parser) parseBare(l span, off, end int) string {
	word := p.src[off:end]
	for i, r := range word {
		switch {
		case r == '"' || r == '\'' || r == '`':
			p.fail(p.pos(l, off+i), `put the whole word or value in double quotes and write a quote in it as \"`, "there is a quote %q inside a bare word", r)
			return ""
		case r >= utf8.RuneSelf && !unicode.IsPrint(r), r < ' ' || r == 0x7f:
			p.fail(p.pos(l, off+i), "remove it, or put the word in double quotes", "the invisible character %U is inside a bare word", r)
			return ""
		}
	}
	return word
}

// parseQuoted parses the Go string that starts at off and returns its value and the offset after it.
func (p *parser) parseQuoted(l span, off int) (string, int) {
	end := off + 1
	for end < l.end && p.src[end] != '"' {
		if p.src[end] == '\\' {
			end++
		}
		end++
	}
	if end >= l.end {
		p.fail(p.pos(l, off), `close it with a double quote on the same line; write a newline as \n`, "the quoted string is not terminated")
		return "", l.end
	}
	end++
	value, err := strconv.Unquote(p.src[off:end])
	if err != nil {
		p.fail(p.pos(l, off), `use the escapes of a Go string: \" \\ \n \t \x41 \u00e4`, "the quoted string has a bad escape or character")
		return "", end
	}
	if end < l.end && p.src[end] != ' ' && p.src[end] != '\t' {
		p.fail(p.pos(l, end), "put whitespace between words", "the quoted string is followed by %s", quoteShort(p.src[end:wordEnd(p.src, end, l.end)]))
	}
	return value, end
}

func wordEnd(src string, off, end int) int {
	for off < end && src[off] != ' ' && src[off] != '\t' {
		off++
	}
	return off
}

// IsName reports whether s is a valid name of a command.
func IsName(s string) bool {
	return startsWithLetter(s) && strings.IndexFunc(s, notIn("_.-")) < 0
}

// IsKey reports whether s is a valid key of a key=value argument.
func IsKey(s string) bool {
	return startsWithLetter(s) && strings.IndexFunc(s, notIn("_.-/")) < 0
}

func startsWithLetter(s string) bool {
	return s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
}

func notIn(more string) func(rune) bool {
	return func(r rune) bool {
		alphanumeric := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !alphanumeric && !strings.ContainsRune(more, r)
	}
}

// quoteShort quotes a word for a message and truncates a long one.
func quoteShort(s string) string {
	const most = 40
	if len(s) <= most {
		return strconv.Quote(s)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "…"
}
