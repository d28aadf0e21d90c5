package serveflags

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// parse runs the command line and reads the token as the server does.
func parse(t *testing.T, args ...string) (*Flags, error) {
	t.Helper()
	var parsed *Flags
	c := NewCommand(func(_ *cobra.Command, f *Flags) error {
		parsed = f
		return f.ReadToken(t.Context())
	})
	c.SetArgs(args)
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.ExecuteContext(t.Context())
	return parsed, err
}

// A token that guards nothing, or that no header could carry, is refused and not shown.
func TestTokenIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for token, want := range map[string]string{
		"":                            "is blank",
		" ":                           "is blank",
		" \t":                         "is blank",
		"s3cr\r\nX-Evil: 1":           "a line break at byte 5",
		"s3cr\n":                      "a line break at byte 5",
		"s3cr\rt":                     "a line break at byte 5",
		"s3cr\x00t":                   "a control character at byte 5",
		"s3cr\tt":                     "a control character at byte 5",
		"s3cr\x7ft":                   "a control character at byte 5",
		"s3cr t":                      "a space at byte 5",
		" s3cr":                       "a space at byte 1",
		"s3crét":                      "outside of ASCII at byte 5",
		strings.Repeat("s3cr", 1<<15): "longer than 65536 bytes",
	} {
		_, err := parse(t, "--token", token)
		if err == nil || !strings.Contains(err.Error(), "--token") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr") {
			t.Errorf("--token %.20q: %v, want %q", token, err, want)
		}
		if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = parse(t, "--token-file", path)
		if err == nil || !strings.Contains(err.Error(), "--token-file") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr") {
			t.Errorf("--token-file with %.20q: %v, want %q", token, err, want)
		}
	}
}

// One end of line is not part of the token.
func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for _, text := range []string{"s3cr", "s3cr\n", "s3cr\r\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		// The file guards an address that is not loopback, too.
		if f, err := parse(t, "--token-file", path, "--addr", "0.0.0.0:0"); err != nil || f.Token != "s3cr" {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
	for args, want := range map[string]string{
		"--token-file=":                          "names no file",
		"--token-file " + path + "x":             "no such file",
		"--token-file " + path + " --token s3cr": "exclude each other",
		"--addr 0.0.0.0:0":                       "guard it with --token or --token-file",
	} {
		if _, err := parse(t, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
