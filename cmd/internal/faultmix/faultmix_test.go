package faultmix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is larger than any mix, as a device is, is not read to its end.
func TestLoadReadsNoMoreThanAMix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mix.yaml")
	mix := "rates: {watch-eof: 1}\n#"
	for size, want := range map[int]string{maxFile: "", maxFile + 1: path + " has more than 1048576 bytes"} {
		if err := os.WriteFile(path, []byte(mix+strings.Repeat("x", size-len(mix))), 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := Load(t.Context(), path)
		switch {
		case want == "" && (err != nil || m.Rates["watch-eof"] != 1):
			t.Errorf("%d bytes: %v %v", size, m, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%d bytes: %v, want %s", size, err, want)
		}
	}
}
