package script

import "strings"

// Rewrite returns the source of f with the expected outputs of the given commands replaced. Every other byte is preserved,
// and so is the block of an output that has not changed. A command without expected output gets a block below it unless its
// new output is empty. The commands must belong to f, and f must come from Parse.
func Rewrite(f *File, outputs map[*Command]string) ([]byte, error) {
	var dst []byte
	done, found := 0, 0
	for _, c := range f.Commands() {
		text, ok := outputs[c]
		if !ok {
			continue
		}
		start, end, old, fenced := c.lineEnd, c.lineEnd, "", false
		if c.Output != nil {
			start, end, old, fenced = c.Output.start, c.Output.end, c.Output.Text, c.Output.Fenced
		}
		if end == 0 || start < done || end > len(f.src) {
			continue // not from Parse, so not counted as found
		}
		found++
		if NormalizeOutput(text) == old {
			continue
		}
		eol := lineEnd(f.src, c.lineEnd)
		dst = append(dst, f.src[done:start]...)
		if start > 0 && f.src[start-1] != '\n' {
			dst = append(dst, eol...)
		}
		dst = appendOutput(dst, text, fenced, blankLineAt(f.src, end), eol)
		done = end
	}
	if found != len(outputs) {
		return nil, Errorf(Pos{File: f.Name}, "parse the file again", "the outputs belong to commands that are not in the parsed file")
	}
	return append(dst, f.src[done:]...), nil
}

// blankLineAt reports whether the line that starts at off is blank or the end of the file.
func blankLineAt(src string, off int) bool {
	line, _, _ := strings.Cut(src[off:], "\n")
	return isBlank(strings.TrimRight(line, "\r"))
}

// lineEnd returns the line ending before off; for a last line without one, that of the first line.
func lineEnd(src string, off int) string {
	if off == 0 || src[off-1] != '\n' {
		off = strings.IndexByte(src, '\n') + 1
	}
	if off >= 2 && src[off-2] == '\r' {
		return "\r\n"
	}
	return "\n"
}
