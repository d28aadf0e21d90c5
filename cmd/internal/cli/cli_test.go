package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// Messages about values of a wrong type name the field and JSON's types, whatever package has read the value into whatever Go type.
func TestPlainHidesGoTypes(t *testing.T) {
	type inner struct {
		N     int
		Names []string
		On    bool
		Rates map[string]float64
		Raw   []byte
	}
	type outer struct {
		Inner inner
		List  []inner
	}
	into := map[string]any{"outer": &outer{}, "anonymous": &struct {
		A struct{ B string } `json:"a"`
	}{}}
	for _, tt := range []struct{ in, text, want string }{
		{"outer", `[]`, "it is a list, and should be an object"},
		{"outer", `{"Inner":7}`, "Inner is a number, and should be an object"},
		{"outer", `{"Inner":{"N":"x"}}`, "Inner.N is a string, and should be a whole number"},
		{"outer", `{"Inner":{"N":1.5}}`, "Inner.N is a number 1.5, and should be a whole number"},
		{"outer", `{"Inner":{"Names":{}}}`, "Inner.Names is an object, and should be a list"},
		{"outer", `{"Inner":{"On":[]}}`, "Inner.On is a list, and should be true or false"},
		{"outer", `{"Inner":{"Rates":true}}`, "Inner.Rates is true or false, and should be an object"},
		{"outer", `{"Inner":{"Rates":{"a":"b"}}}`, "is a string, and should be a number"},
		{"outer", `{"Inner":{"Raw":7}}`, "Inner.Raw is a number, and should be a base64 string"},
		{"outer", `{"List":"x"}`, "List is a string, and should be a list"},
		{"anonymous", `[]`, "it is a list, and should be an object"},
		{"anonymous", `{"a":[]}`, "a is a list, and should be an object"},
	} {
		for name, unmarshal := range map[string]func([]byte, any) error{"json": json.Unmarshal, "yaml": func(b []byte, v any) error { return yaml.Unmarshal(b, v) }} {
			err := unmarshal([]byte(tt.text), into[tt.in])
			if err == nil {
				t.Fatalf("%s: %s is read into %T", name, tt.text, into[tt.in])
			}
			got := Plain("x: " + err.Error() + "; read the page")
			if !strings.HasPrefix(got, "x: ") || !strings.Contains(got, tt.want) || !strings.HasSuffix(got, "; read the page") ||
				strings.Contains(got, "Go ") || strings.Contains(got, "json:") || strings.Contains(got, "struct") {
				t.Errorf("%s: %s: %s, want %s", name, tt.text, got, tt.want)
			}
		}
	}
	for _, same := range []string{"", "a.sim:3:1: unknown command", "json: invalid use", "cannot unmarshal"} {
		if got := Plain(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
}

func TestPlainIsShort(t *testing.T) {
	long := strings.Repeat("é", 5000)
	got := Plain("first\n" + long + "\nlast")
	if len(got) > 1200 || !strings.HasPrefix(got, "first\né") || !strings.HasSuffix(got, "… (10000 bytes)\nlast") {
		t.Errorf("it is %d bytes: %.80s", len(got), got)
	}
}

// An interrupted command that does not end, as one that opens a FIFO, is given up.
func TestExecuteGivesUpWhatDoesNotEnd(t *testing.T) {
	defer func(was time.Duration) { Grace = was }(Grace)
	Grace = time.Millisecond
	ctx, interrupt := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	root := Prepare(&cobra.Command{Use: "x"})
	root.AddCommand(&cobra.Command{Use: "wait", RunE: func(*cobra.Command, []string) error {
		interrupt()
		<-release
		return nil
	}})
	var stdout, stderr bytes.Buffer
	err := Execute(ctx, root, []string{"wait"}, &stdout, &stderr)
	if code := Report(&stderr, err); code != Interrupted || stderr.String() != "interrupted\n" {
		t.Errorf("exit code %d, error %q", code, stderr.String())
	}
}

// One that ends in time says itself what came of it.
func TestExecuteLetsAnInterruptedCommandEnd(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	own := errors.New("its own error")
	root := Prepare(&cobra.Command{Use: "x"})
	root.AddCommand(&cobra.Command{Use: "wait", RunE: func(c *cobra.Command, _ []string) error {
		interrupt()
		<-c.Context().Done()
		return own
	}})
	if err := Execute(ctx, root, []string{"wait"}, &bytes.Buffer{}, &bytes.Buffer{}); !errors.Is(err, own) {
		t.Errorf("the error is %v", err)
	}
}
