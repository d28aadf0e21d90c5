package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// goldenPath returns the file of a probe in dir.
func goldenPath(dir, name string) string {
	return filepath.Join(dir, filepath.FromSlash(name)+".json")
}

// ReadGolden reads the recorded transcript of a probe.
func ReadGolden(dir, name string) (Transcript, error) {
	data, err := os.ReadFile(goldenPath(dir, name))
	if err != nil {
		return Transcript{}, fmt.Errorf("no golden for probe %s (record it: go -C conformance run . --rewrite): %w", name, err)
	}
	t, err := DecodeTranscript(data)
	if err != nil {
		return t, fmt.Errorf("golden of probe %s: %w", name, err)
	}
	return t, nil
}

// WriteGoldens writes transcripts and removes the files of removed probes. It returns the number of files changed.
func WriteGoldens(dir string, transcripts []Transcript) (int, error) {
	changed, kept := 0, map[string]bool{}
	for _, t := range transcripts {
		path := goldenPath(dir, t.Name)
		kept[path] = true
		data := t.Encode()
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return changed, fmt.Errorf("write golden of %s: %w", t.Name, err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return changed, fmt.Errorf("write golden of %s: %w", t.Name, err)
		}
		changed++
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || kept[path] || !strings.HasSuffix(path, ".json") {
			return err
		}
		changed++
		return os.Remove(path)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return changed, fmt.Errorf("remove old goldens: %w", err)
	}
	return changed, nil
}
