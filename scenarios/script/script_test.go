package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const transcript = `# A pod deleted while the watch is down.
cluster replicas=1 history=1000

create pods default/a   note="two words" labels=app=x  # trailing prose
create pods default/b rv=2 {"metadata":
  {"name": "# b }"},

  "spec": {"n": [1, 2]}} # done
log h1
----
h1 add default/a rv=1 initial
# not prose
h1 add default/b rv=2 initial

log h2
----
----
first

after a blank line
----
----
log h3
----

log "a=b" ""
`

func mustParse(t testing.TB, src string) *File {
	t.Helper()
	f, err := Parse("x.sim", []byte(src))
	if err != nil {
		t.Fatalf("Parse of %q: %v", src, err)
	}
	return f
}

func TestParseKeepsEverything(t *testing.T) {
	f := mustParse(t, transcript)
	cmds := f.Commands()
	if len(cmds) != 7 {
		t.Fatalf("%d commands, want 7", len(cmds))
	}
	create := cmds[1]
	want := []Arg{
		{Pos: Pos{"x.sim", 4, 8}, Value: "pods"},
		{Pos: Pos{"x.sim", 4, 13}, Value: "default/a"},
		{Pos: Pos{"x.sim", 4, 25}, Key: "note", Value: "two words"},
		{Pos: Pos{"x.sim", 4, 42}, Key: "labels", Value: "app=x"},
	}
	if len(create.Args) != len(want) {
		t.Fatalf("args %v, want %v", create.Args, want)
	}
	for i := range want {
		if create.Args[i] != want[i] {
			t.Errorf("arg %d: %+v, want %+v", i, create.Args[i], want[i])
		}
	}
	if create.Comment != "trailing prose" {
		t.Errorf("comment %q", create.Comment)
	}
	b := cmds[2]
	if got, want := string(b.Payload), "{\"metadata\":\n  {\"name\": \"# b }\"},\n\n  \"spec\": {\"n\": [1, 2]}}"; got != want {
		t.Errorf("payload %q, want %q", got, want)
	}
	if b.Comment != "done" || b.PayloadPos != (Pos{"x.sim", 5, 28}) {
		t.Errorf("comment %q, payload at %v", b.Comment, b.PayloadPos)
	}
	outputs := []string{"h1 add default/a rv=1 initial\n# not prose\nh1 add default/b rv=2 initial\n", "first\n\nafter a blank line\n", ""}
	for i, want := range outputs {
		if c := cmds[3+i]; c.Output == nil || c.Output.Text != want {
			t.Errorf("output of %s: %+v, want %q", c, c.Output, want)
		}
	}
	if got := cmds[3].Pos; got != (Pos{"x.sim", 9, 1}) {
		t.Errorf("the command after a payload of 4 lines is at %v", got)
	}
	if last := cmds[6]; last.Output != nil || last.Args[0].Value != "a=b" || last.Args[0].Key != "" || last.Args[1].Value != "" {
		t.Errorf("quoted words: %+v", last)
	}
}

func TestPrintIsCanonical(t *testing.T) {
	printed := string(Print(mustParse(t, transcript)))
	want := strings.NewReplacer("default/a   note", "default/a note", "app=x  #", "app=x #").Replace(transcript)
	if printed != want {
		t.Errorf("got\n%s\nwant\n%s", printed, want)
	}
	// CRLF line endings and a byte order mark are not content.
	windows := byteOrderMark + strings.ReplaceAll(transcript, "\n", "\r\n")
	if got := string(Print(mustParse(t, windows))); got != want {
		t.Errorf("with CRLF got\n%q\nwant\n%q", got, want)
	}
	if pos := mustParse(t, byteOrderMark+"a").Commands()[0].Pos; pos.Column != 1 {
		t.Errorf("the byte order mark counts as a column: %v", pos)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"name", "\n  9lives", `x.sim:2:3: "9lives" is not a command name; a line is a command, # prose, or ---- below a command`},
		{"quote open", `a b "c`, `x.sim:1:5: the quoted string is not terminated; close it with a double quote on the same line; write a newline as \n`},
		{"quote value open", `a k="c`, `x.sim:1:5: the quoted string is not terminated; close it with`},
		{"quote ends in backslash", `a "c\`, `x.sim:1:3: the quoted string is not terminated`},
		{"quote escape", `a "\q"`, `x.sim:1:3: the quoted string has a bad escape or character; use the escapes`},
		{"quote tail", `a "b"c d`, `x.sim:1:6: the quoted string is followed by "c"; put whitespace between words`},
		{"quote inside", `a b"c"`, `x.sim:1:4: there is a quote '"' inside a bare word; put the whole word`},
		{"single quotes", `a k='b c'`, `x.sim:1:5: there is a quote '\'' inside a bare word`},
		{"control", "a b\x01", `x.sim:1:4: the invisible character U+0001 is inside a bare word`},
		{"no-break space", "a b\u00a0c", `x.sim:1:4: the invisible character U+00A0 is inside a bare word`},
		{"no key", `a =b`, `x.sim:1:3: "" is not a key; put a word that contains =`},
		{"bad key", `a 1=b`, `x.sim:1:3: "1" is not a key`},
		{"no value", `a k= b`, `x.sim:1:5: k= has no value; write k="" for an empty value, and no space after =`},
		{"separator alone", "# x\n----\nb", `x.sim:2:1: the ---- of an expected output does not follow a command; put it on the line directly below a command`},
		{"separator after blank", "a\n\n----\nb", `x.sim:3:1: the ---- of an expected output does not follow a command`},
		{"separator in output", "a\n----\nb\n----\n", `x.sim:4:1: there is a ---- inside an expected output; end the output with a blank line`},
		{"fence open", "a\n----\n----\nb\n----\n", `x.sim:2:1: the fenced output is not terminated; end it with two lines of ----`},
		{"payload open", "a b {\n\"x\": 1\n", `x.sim:1:5: the JSON payload is not terminated; close the { of the payload`},
		{"payload open before a command", "a {\"x\": 1\nb c\n", `x.sim:1:3: the JSON payload is not terminated: at 2:1 invalid character 'b' after object key:value pair; close`},
		{"payload open string", "a {\"x\": \"1\n}\n", `x.sim:1:11: the payload is not valid JSON`},
		{"payload invalid", `a {"x" 1}`, `x.sim:1:8: the payload is not valid JSON: invalid character '1' after object key`},
		{"payload not last", `a {"x":1} b`, `x.sim:1:11: unexpected "b" after the payload; the payload must be last in a command`},
		{"NUL", "a\nb\x00", `x.sim:2:2: the script has a NUL byte; save the script as plain UTF-8 text`},
		{"UTF-8", "a\nbc\xff", `x.sim:2:3: byte 0xff is not valid UTF-8; save the script as UTF-8`},
		{"line", "a\n" + strings.Repeat("b", MaxLineLength+1), `x.sim:2:4194305: the line has 4194305 bytes; the limit is 4 MiB`},
		{"nesting", "a {\"x\":" + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}", `x.sim:1:10007: the payload is not valid JSON: invalid character '[' exceeded max depth`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse("x.sim", []byte(tt.src))
			if err == nil {
				t.Fatalf("no error, got %+v", f)
			}
			if first, _, _ := strings.Cut(err.Error(), "\n"); !strings.HasPrefix(first, tt.want) {
				t.Errorf("got  %s\nwant %s", first, tt.want)
			}
		})
	}
}

func TestParseReportsSeveralErrors(t *testing.T) {
	_, err := Parse("x.sim", []byte("a k=\nlog h1\n----\nout\n\n9\n----\nx\n\nb {\nc d=\n"))
	want := []string{"x.sim:1:5: ", "x.sim:6:1: ", "x.sim:10:3: ", "x.sim:11:5: "}
	errs, ok := err.(Errors)
	if !ok || len(errs) != len(want) {
		t.Fatalf("got %v, want errors at %v", err, want)
	}
	for i, prefix := range want {
		if !strings.HasPrefix(errs[i].Error(), prefix) {
			t.Errorf("error %d: %v, want it at %s", i, errs[i], prefix)
		}
	}
	_, err = Parse("x.sim", []byte(strings.Repeat("9\n", 1000)))
	if errs, ok := err.(Errors); !ok || len(errs) != MaxErrors {
		t.Errorf("got %d of 1000 errors, want %d", len(errs), MaxErrors)
	}
}

// A trace is one mistake, and not one a line.
func TestParseRefusesATrace(t *testing.T) {
	for _, mark := range []string{"", byteOrderMark} {
		_, err := Parse("x", []byte(mark+`{"trace":"informersim","version":3}`+"\n{\"s\":1}\n"))
		if err == nil || err.Error() != "x:1:1: it is a trace, not a script; informersim replay FILE makes its run again" {
			t.Errorf("got %v", err)
		}
	}
}

func TestReadFileLimits(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.sim")
	if err := os.WriteFile(big, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 100<<20); err != nil { // sparse: only its size is read
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "none.sim")
	for path, want := range map[string]string{
		big:     big + ": it is 100 MiB; scripts are limited to 32 MiB; split it into several scripts, or import fewer objects",
		missing: missing + ": there is no such file; check the path",
		dir:     dir + ": it is a directory; name a *.sim file in it",
	} {
		if _, err := ParseFile(path); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := Parse("x.sim", make([]byte, MaxFileSize+1)); err == nil || !strings.Contains(err.Error(), "it is 32.1 MiB; scripts are limited") {
		t.Errorf("Parse of too much: %v", err)
	}
	good := filepath.Join(dir, "good.sim")
	if err := os.WriteFile(good, []byte("settle\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if f, err := ParseFile(good); err != nil || len(f.Commands()) != 1 {
		t.Errorf("got %v, %v", f, err)
	}
}
