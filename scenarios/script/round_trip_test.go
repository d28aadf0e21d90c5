package script

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func genFile() *rapid.Generator[*File] {
	node := rapid.Custom(func(t *rapid.T) Node {
		switch rapid.IntRange(0, 5).Draw(t, "node") {
		case 0:
			return &Blank{}
		case 1:
			return &Comment{Text: genComment().Draw(t, "comment")}
		}
		return genCommand().Draw(t, "command")
	})
	return rapid.Custom(func(t *rapid.T) *File {
		return &File{Nodes: rapid.SliceOfN(node, 0, 8).Draw(t, "nodes")}
	})
}

func genComment() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"", " prose", "\tx  y", "# more", " ---- {", "!\"'"})
}

func genCommand() *rapid.Generator[*Command] {
	value := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "default/a", "{", "#x", "a#", "----", "=", "a=b", "'", "`", "\u00a0", "\xff", "a\x00", "ä", "2s"}), rapid.String())
	arg := rapid.Custom(func(t *rapid.T) Arg {
		return Arg{
			Key:   rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[a-zA-Z][a-zA-Z0-9_./-]{0,6}`)).Draw(t, "key"),
			Value: value.Draw(t, "value"),
		}
	})
	payload := rapid.SampledFrom([]string{"", "{}", `{"a":"}\""}`, "{\n\n\"a\": [1,\t2]\n}", `{"#":{"----":"\u0000"}}`})
	line := rapid.OneOf(rapid.SampledFrom([]string{"", " ", "----", " ----", "-----", "------\t", "---", "a\rb", "# x", "b \t", "\v", "h1 add"}),
		rapid.StringMatching(`[a-z ]{0,8}`))
	return rapid.Custom(func(t *rapid.T) *Command {
		c := &Command{
			Name:    rapid.StringMatching(`[a-zA-Z][a-zA-Z0-9_.-]{0,6}`).Draw(t, "name"),
			Args:    rapid.SliceOfN(arg, 0, 4).Draw(t, "args"),
			Payload: []byte(payload.Draw(t, "payload")),
			Comment: strings.TrimSpace(genComment().Draw(t, "comment")),
		}
		if rapid.Bool().Draw(t, "has output") {
			c.Output = &Output{Text: NormalizeOutput(strings.Join(rapid.SliceOfN(line, 0, 5).Draw(t, "output"), "\n"))}
		}
		return c
	})
}

func TestPrintParseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := genFile().Draw(t, "file")
		printed := Print(f)
		back, err := Parse("x.sim", printed)
		if err != nil {
			t.Fatalf("%v\nin\n%s", err, printed)
		}
		if !Equal(f, back) {
			t.Fatalf("round trip changed\n%s\nto\n%s", printed, Print(back))
		}
		if again := Print(back); !bytes.Equal(again, printed) {
			t.Fatalf("not idempotent:\n%s\nthen\n%s", printed, again)
		}
	})
}

func TestRewriteReplacesOnlyOutputs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := Print(genFile().Draw(t, "file"))
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		src = bytes.ReplaceAll(src, []byte("\n"), []byte(eol))
		if rapid.Bool().Draw(t, "cut the last line end") {
			src = bytes.TrimSuffix(src, []byte(eol))
		}
		f, err := Parse("x.sim", src)
		if err != nil {
			t.Fatalf("%v\nin\n%s", err, src)
		}
		outputs := map[*Command]string{}
		for i, c := range f.Commands() {
			if rapid.Bool().Draw(t, fmt.Sprint("rewrite ", i)) {
				outputs[c] = genCommand().Filter(func(c *Command) bool { return c.Output != nil }).Draw(t, fmt.Sprint("like ", i)).Output.Text
			}
		}
		rewritten, err := Rewrite(f, outputs)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse("x.sim", rewritten)
		if err != nil {
			t.Fatalf("%v\nin\n%s\nrewritten from\n%s", err, rewritten, src)
		}
		for _, c := range f.Commands() {
			if text, ok := outputs[c]; ok && (text != "" || c.Output != nil) {
				c.Output = &Output{Text: text}
			}
		}
		if !Equal(f, back) {
			t.Fatalf("rewritten\n%s\ndiffers in more than outputs from\n%s", rewritten, src)
		}
	})
}

func TestRewriteKeepsEveryOtherByte(t *testing.T) {
	src := "#  odd   spacing \t\nlog   h1  # x\n----\nold\n\n\nlog\th2\n----\n----\nold\n\nold\n----\n----\nlog h3\nlog h4"
	f := mustParse(t, src)
	c := f.Commands()
	got, err := Rewrite(f, map[*Command]string{c[0]: "new\n", c[1]: "new", c[2]: "n\n", c[3]: "\n"})
	if err != nil {
		t.Fatal(err)
	}
	want := "#  odd   spacing \t\nlog   h1  # x\n----\nnew\n\n\nlog\th2\n----\n----\nnew\n----\n----\nlog h3\n----\n----\nn\n----\n----\nlog h4\n----\n----\n\n----\n----\n"
	if string(got) != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	same, err := Rewrite(f, map[*Command]string{c[0]: "old", c[1]: "old\n\nold\n", c[2]: "", c[3]: ""})
	if err != nil || string(same) != src {
		t.Errorf("unchanged outputs changed the file: %v\n%q", err, same)
	}
	if _, err := Rewrite(f, map[*Command]string{{Name: "log"}: "x"}); err == nil {
		t.Error("accepted the output of a command of another file")
	}
}
