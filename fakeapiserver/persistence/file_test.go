package persistence

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// written returns a file with that many objects.
func written(t testing.TB, objects int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	f, state, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if state.Len() != 0 || state.Revision() != 0 {
		t.Errorf("a new file has %d objects at revision %d", state.Len(), state.Revision())
	}
	w := newWorld(t)
	recorder := Record(w.c, f)
	w.must(func() error {
		for i := range objects {
			if _, err := w.c.Create(w.maps, configMap(fmt.Sprintf("m-%04d", i), strings.Repeat("x", 100))); err != nil {
				return err
			}
		}
		return nil
	})
	w.must(recorder.Sync)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFile(t *testing.T) {
	path := written(t, 500)
	f, content, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if content.Len() != 500 || content.Revision() != 1500 {
		t.Errorf("the file has %d objects at revision %d", content.Len(), content.Revision())
	}
	w := newWorld(t)
	w.must(func() error { return Load(w.c, content) })
	if n := strings.Count(state(t, w.c), "ConfigMap "); n != 500 {
		t.Errorf("loaded %d objects", n)
	}
	// It is locked.
	if _, _, err := Open(path); err == nil || !strings.Contains(err.Error(), "it is open in another process") {
		t.Errorf("the second Open of a file: %v", err)
	}
}

// A file that cannot be used is rejected with an error that says why, and left unchanged.
func TestOpenRejectsFile(t *testing.T) {
	change := func(edit func(data []byte) []byte) func(*testing.T) string {
		return func(t *testing.T) string {
			path := written(t, 500)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, edit(data), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	// record adds a record behind the last one.
	record := func(c Change) func(*testing.T) string {
		return change(func(d []byte) []byte {
			d = appendRecord(d, int64(len(d)), c)
			copy(d, header(int64(len(d))))
			return d
		})
	}
	for name, tt := range map[string]struct {
		make func(*testing.T) string
		want string
	}{
		"text": {func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "notes.txt")
			if err := os.WriteFile(path, []byte("apiVersion: v1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}, "was not written by this server"},
		"zeros":     {change(func(d []byte) []byte { return make([]byte, len(d)) }), "was not written by this server"},
		"folder":    {func(t *testing.T) string { return t.TempDir() }, "is not a regular file"},
		"no folder": {func(t *testing.T) string { return filepath.Join(t.TempDir(), "no", "data") }, "no such file or directory"},
		"truncated": {change(func(d []byte) []byte { return d[:len(d)/2] }), "is damaged: at byte "},
		"too small": {change(func(d []byte) []byte { return d[:headerSize-1] }), "it ends within its header"},
		"pages gone": {change(func(d []byte) []byte {
			clear(d[4*os.Getpagesize():])
			return d
		}), "is damaged"},
		"pages of noise": {change(func(d []byte) []byte {
			for i := 3 * os.Getpagesize(); i+8 <= len(d); i += 8 {
				binary.LittleEndian.PutUint64(d[i:], 0x9e3779b97f4a7c15*uint64(i))
			}
			return d
		}), "is damaged"},
		"records swapped": {change(func(d []byte) []byte {
			n := (len(d) - headerSize) / 500
			return slices.Concat(d[:headerSize+n], d[headerSize+2*n:headerSize+3*n], d[headerSize+n:headerSize+2*n], d[headerSize+3*n:])
		}), "is damaged"},
		"newer layout": {change(func(d []byte) []byte {
			text := fmt.Appendf(nil, "%-*s\n", textSize-1, textPrefix+"3")
			copy(d, binary.BigEndian.AppendUint32(append(text, d[textSize:headerSize-4]...), checksum(append(text, d[textSize:headerSize-4]...))))
			return d
		}), "was written by a newer version of this program: it has layout 3, the newest known is 2"},
		"older layout": {change(func(d []byte) []byte {
			old := make([]byte, 32<<10) // as bbolt begins its files
			copy(old[8:], []byte{4, 0, 0, 0, 0, 0, 0, 0, 0xed, 0xda, 0x0c, 0xed, 2, 0, 0, 0, 0, 0x10})
			return old
		}), "was written by an older version of this program: it has layout 1, and this version reads layout 2"},
		"a key of another": {record(Change{Revision: 1501, Key: []byte("colour"), Value: []byte("blue")}), `it has an unknown key "colour"`},
		"a value":          {record(Change{Revision: 1501, Key: []byte("object/pods/x/y"), Value: []byte("{")}), "pods x/y"},
	} {
		t.Run(name, func(t *testing.T) {
			path := tt.make(t)
			before, beforeErr := os.ReadFile(path)
			f, _, err := Open(path)
			if err == nil {
				f.Close()
				t.Fatal("the file was opened")
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("the error is %q, want %q and the file's name in it", err, tt.want)
			}
			if after, afterErr := os.ReadFile(path); (beforeErr == nil) != (afterErr == nil) || !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

// An empty file, as mktemp makes it, is a new one.
func TestEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, state, err := Open(path)
	if err != nil || state.Len() != 0 {
		t.Fatalf("%d objects, %v", state.Len(), err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A save of one write, and of the writes of a hundred requests that arrived together. Both sync the disk once.
func BenchmarkSave(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f, _, err := Open(filepath.Join(b.TempDir(), "data"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			w := newWorld(b)
			recorder := Record(w.c, f)
			i := 0
			for b.Loop() {
				w.must(func() error {
					for range n {
						i++
						if _, err := w.c.Create(w.maps, configMap(fmt.Sprintf("m-%d", i), "value")); err != nil {
							return err
						}
					}
					return nil
				})
				w.must(recorder.Sync)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/write")
		})
	}
}
