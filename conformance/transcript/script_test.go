package transcript

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFormatRoundTrip(t *testing.T) {
	text := "# one\nkubectl apply -f -\n| a: 1\n| b:\n|   c: 2\n----\nmade\n.\nlast\n\nkubectl get x\n----\n"
	blocks, err := Parse("f", text)
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) != 2 || blocks[0].Stdin != "a: 1\nb:\n  c: 2\n" || blocks[0].Want != "made\n.\nlast\n" || blocks[1].Line != 11 {
		t.Fatalf("parsed %+v", blocks)
	}
	if diff := cmp.Diff(text, Format(blocks)); diff != "" {
		t.Error(diff)
	}
}

func TestParseErrorsHavePlaces(t *testing.T) {
	for text, want := range map[string]string{
		"kubectl get x\n":        `f:1: the command "kubectl get x" has no "----" below it`,
		"kubectl get x\noops\n":  `f:2: "oops" is neither input ("| …") nor "----"`,
		"\nkubectl get x\n\n\n#": `f:2: the command "kubectl get x" has no "----" below it`,
	} {
		if _, err := Parse("f", text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestNormaliseMasks(t *testing.T) {
	got := normalise("NAME   AGE\na      12s\n\n  resourceVersion: \"77\"\n  uid: 11111111-2222-3333-4444-555555555555   \n2026-01-02T03:04:05Z\n")
	want := "NAME   AGE\na      <age>\n.\n  resourceVersion: \"<rv>\"\n  uid: <uid>\n<time>\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSplit(t *testing.T) {
	got, err := split(`kubectl patch x --patch '{"a": "b c"}' "" end`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"kubectl", "patch", "x", "--patch", `{"a": "b c"}`, "", "end"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := split("a 'b"); err == nil {
		t.Error("an unclosed quote was accepted")
	}
}
