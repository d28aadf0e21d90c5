package persistence

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// faultyDisk is a disk of limited size, whose operations can fail.
type faultyDisk struct {
	disk
	room  int64 // the size to which the file may grow; 0 for no limit
	stuck bool  // Truncate fails
	dead  bool  // Sync fails
}

func (d *faultyDisk) WriteAt(b []byte, at int64) (int, error) {
	if d.room == 0 || at+int64(len(b)) <= d.room {
		return d.disk.WriteAt(b, at)
	}
	n, err := d.disk.WriteAt(b[:max(0, d.room-at)], at) // a full disk takes what fits
	if err != nil {
		return n, err
	}
	return n, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
}

func (d *faultyDisk) Truncate(size int64) error {
	if d.stuck {
		return syscall.EIO
	}
	return d.disk.Truncate(size)
}

func (d *faultyDisk) Sync() error {
	if d.dead {
		return syscall.EIO
	}
	return d.disk.Sync()
}

// session is a world that is recorded in a file on a faulty disk.
type session struct {
	*world
	file     *File
	disk     *faultyDisk
	recorder *Recorder
}

func openSession(t testing.TB, path string) *session {
	t.Helper()
	f, content, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{world: newWorld(t), file: f, disk: &faultyDisk{disk: f.disk}}
	f.disk = s.disk
	s.must(func() error { return Load(s.c, content) })
	s.recorder = Record(s.c, f)
	return s
}

func (s *session) create(name, value string) error {
	return s.do(func() error { _, err := s.c.Create(s.maps, configMap(name, value)); return err })
}

// reopened closes the file and opens it again, as after a kill.
func (s *session) reopened() *session {
	s.t.Helper()
	if err := s.file.Close(); err != nil {
		s.t.Fatal(err)
	}
	return openSession(s.t, s.file.path)
}

func wantRefused(t *testing.T, err error, full bool, text string) {
	t.Helper()
	var refused *store.RefusedError
	if !errors.As(err, &refused) || refused.Full != full || !strings.Contains(err.Error(), text) || !fakeapiserver.Refused(err) {
		t.Errorf("the write ended with %v, want a refusal (full: %v) with %q", err, full, text)
	}
}

// A write for which there is no room leaves no trace: not in the Store, not on the disk. The next one that fits is taken.
func TestFullDisk(t *testing.T) {
	s := openSession(t, filepath.Join(t.TempDir(), "data"))
	told := 0
	s.c.OnCommit(func(store.ResourceID, store.Committed) { told++ })
	if err := s.create("a", "1"); err != nil {
		t.Fatal(err)
	}
	s.must(s.recorder.Sync)
	before := state(t, s.c)
	s.disk.room = s.file.end + 50
	for range 3 {
		wantRefused(t, s.create("b", "1"), true, "no space left on device")
		wantRefused(t, s.do(func() error { _, err := s.c.Update(s.maps, configMap("a", "2")); return err }), true, "no space left on device")
		if err := s.recorder.Check(); err == nil || !strings.Contains(err.Error(), "no space left on device") {
			t.Errorf("the check says %v", err)
		}
	}
	if got := state(t, s.c); told != 1 || got != before || s.c.Store().Revision() != 1001 {
		t.Errorf("after the refusals the store is at %d, and %d commits were told\n%s\nwant\n%s", s.c.Store().Revision(), told, got, before)
	}
	if info, err := os.Stat(s.file.path); err != nil || info.Size() != s.file.end {
		t.Errorf("a refused write left something on the disk: %d bytes, %v; want %d", info.Size(), err, s.file.end)
	}
	// A deletion is small enough, and makes no room: the file is a log.
	s.must(func() error { _, err := s.c.Delete(s.maps, "x", "a", nil); return err })
	s.disk.room = 0
	if err := s.recorder.Check(); err != nil {
		t.Errorf("there is room, and the check says %v", err)
	}
	if err := s.create("b", "1"); err != nil {
		t.Error(err)
	}
	if obj, rev := s.c.Store().Get(s.maps, "x", "b"); obj == nil || rev != 1003 {
		t.Errorf("the write after the refusals has revision %d", rev)
	}
	s.must(s.recorder.Sync)
	if got, want := state(t, s.reopened().c), state(t, s.c); got != want {
		t.Errorf("the file has\n%s\nwant\n%s", got, want)
	}
}

// What a failed write leaves and cannot be removed blocks later ones, and is no damage.
func TestRestOfAFailedWrite(t *testing.T) {
	s := openSession(t, filepath.Join(t.TempDir(), "data"))
	if err := s.create("a", "1"); err != nil {
		t.Fatal(err)
	}
	s.must(s.recorder.Sync)
	s.disk.room, s.disk.stuck = s.file.end+50, true
	wantRefused(t, s.create("b", "1"), true, "no space left on device")
	s.disk.room = 0
	wantRefused(t, s.create("b", "1"), false, "what is left of a failed write cannot be removed")
	want := state(t, s.c)
	again := s.reopened()
	if got := state(t, again.c); got != want {
		t.Errorf("the file has\n%s\nwant\n%s", got, want)
	}
	if err := again.create("b", "2"); err != nil {
		t.Error(err)
	}
}

// After a failed sync nothing more is written: what is on the disk is unknown.
func TestDeadDisk(t *testing.T) {
	s := openSession(t, filepath.Join(t.TempDir(), "data"))
	if err := s.create("a", "1"); err != nil {
		t.Fatal(err)
	}
	s.disk.dead = true
	if err := s.recorder.Sync(); err == nil || !strings.Contains(err.Error(), "start the server again") {
		t.Errorf("Sync: %v", err)
	}
	if err := s.file.Check(); err == nil {
		t.Error("the file takes writes")
	}
}

// A file that is moved away, removed or replaced while it is open takes no writes until it is back, or may be written anew.
func TestFileIsGone(t *testing.T) {
	folder := t.TempDir()
	path, away := filepath.Join(folder, "data"), filepath.Join(folder, "away")
	s := openSession(t, path)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.create("a", "1"))
	s.must(s.recorder.Sync)
	must(os.Rename(path, away))
	wantRefused(t, s.create("b", "1"), false, "data is gone while it is in use")
	must(os.WriteFile(path, []byte("hello"), 0o600))
	wantRefused(t, s.create("b", "1"), false, "another file has taken the place of")
	if err := s.recorder.Check(); err == nil {
		t.Error("the check finds nothing")
	}
	must(os.Rename(away, path))
	if err := s.recorder.Check(); err != nil {
		t.Errorf("the file is back, and the check says %v", err)
	}
	must(s.create("b", "1"))
	s.must(s.recorder.Sync)

	must(os.Remove(path))
	wantRefused(t, s.create("c", "1"), false, "is gone while it is in use")
	must(os.WriteFile(path, nil, 0o640))
	must(s.create("c", "1"))
	s.must(s.recorder.Sync)
	if got, want := state(t, s.reopened().c), state(t, s.c); got != want || !strings.Contains(got, "x/a") {
		t.Errorf("the new file has\n%s\nwant\n%s", got, want)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

// A log that has grown long is rewritten; where that is impossible, it stays, and nothing is refused.
func TestLogIsRewritten(t *testing.T) {
	folder := t.TempDir()
	s := openSession(t, filepath.Join(folder, "data"))
	update := func(i int) error {
		return s.do(func() error { _, err := s.c.Update(s.maps, configMap("a", fmt.Sprint(i))); return err })
	}
	if err := s.create("a", "0"); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := update(i); err != nil {
			t.Fatal(err)
		}
	}
	s.file.rewrite = headerSize // as if it had grown enough
	long := s.file.end
	s.recorder.tidy()
	if s.file.end > long/50 || s.file.rewrite < slack {
		t.Errorf("the log has %d bytes, and had %d", s.file.end, long)
	}
	if err := update(100); err != nil {
		t.Fatal(err)
	}
	s.must(s.recorder.Sync)
	// What a killed rewrite has left goes when the file is opened; files with other names stay.
	for _, name := range []string{".data.123.new", ".data.mine.new"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := state(t, s.reopened().c), state(t, s.c); got != want {
		t.Errorf("the file has\n%s\nwant\n%s", got, want)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 2 || left[0].Name() != ".data.mine.new" {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

// Whatever fails, the Store and, after a kill, the file have what was taken, and nothing of what was refused.
func TestNothingRefusedIsStored(t *testing.T) {
	folder := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(folder, fmt.Sprint(n))
		s := openSession(t, path)
		defer func() { s.file.Close() }()
		want := map[string]string{}
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		rt.Repeat(map[string]func(*rapid.T){
			"write": func(rt *rapid.T) {
				n, value := name.Draw(rt, "name"), strings.Repeat("x", rapid.IntRange(0, 300).Draw(rt, "size"))
				_, exists := want[n]
				err := s.do(func() (err error) {
					if exists {
						_, err = s.c.Update(s.maps, configMap(n, value))
					} else {
						_, err = s.c.Create(s.maps, configMap(n, value))
					}
					return err
				})
				switch {
				case err == nil:
					want[n] = value
				case !fakeapiserver.Refused(err):
					rt.Fatal(err)
				}
			},
			"delete": func(rt *rapid.T) {
				n := name.Draw(rt, "name")
				if _, exists := want[n]; !exists {
					return
				}
				err := s.do(func() error { _, err := s.c.Delete(s.maps, "x", n, nil); return err })
				switch {
				case err == nil:
					delete(want, n)
				case !fakeapiserver.Refused(err):
					rt.Fatal(err)
				}
			},
			"room":  func(rt *rapid.T) { s.disk.room = s.file.end + rapid.Int64Range(0, 400).Draw(rt, "bytes") },
			"free":  func(*rapid.T) { s.disk.room = 0 },
			"stuck": func(rt *rapid.T) { s.disk.stuck = rapid.Bool().Draw(rt, "stuck") },
			"check": func(*rapid.T) { _ = s.recorder.Check() },
			"tidy": func(*rapid.T) {
				s.file.rewrite = headerSize
				s.recorder.tidy()
				if _, faulty := s.file.disk.(*faultyDisk); !faulty {
					s.disk = &faultyDisk{disk: s.file.disk}
					s.file.disk = s.disk
				}
			},
			"kill": func(*rapid.T) { s = s.reopened() },
			"": func(rt *rapid.T) {
				have := map[string]string{}
				for _, m := range s.configMaps() {
					have[m.Name] = m.Data["k"]
				}
				if fmt.Sprint(have) != fmt.Sprint(want) {
					rt.Fatalf("the store has %v, want %v", have, want)
				}
			},
		})
	})
}

func (s *session) configMaps() (all []*corev1.ConfigMap) {
	s.t.Helper()
	if err := s.c.Store().Walk(s.maps, s.c.Store().Revision(), "", func(_ string, obj runtime.Object) bool {
		all = append(all, obj.(*corev1.ConfigMap))
		return true
	}); err != nil {
		s.t.Fatal(err)
	}
	return all
}

// A bit that flips anywhere is noticed, and the object whose bit it is is named.
func TestFlippedBit(t *testing.T) {
	path := written(t, 8)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for bit := range 8 * len(good) {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		_, err := readLog(bytes.NewReader(bad), int64(len(bad)), func(Change) error { return nil })
		if err == nil {
			t.Fatalf("bit %d of byte %d is flipped, and nobody notices", bit%8, bit/8)
		}
		if strings.Contains(err.Error(), "configmaps x/m-00") {
			named++
		}
	}
	if named < 7*len(good) {
		t.Errorf("%d of %d flipped bits are named by their object", named, 8*len(good))
	}
	// What Open says of one.
	at := bytes.LastIndex(good, []byte("xxxx"))
	bad := bytes.Clone(good)
	bad[at] ^= 4
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = Open(path)
	if err == nil || !strings.Contains(err.Error(), "data is damaged: configmaps x/m-0007, at byte ") || !strings.Contains(err.Error(), "restore a backup") {
		t.Errorf("Open says %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, bad) {
		t.Error("the file was changed")
	}
}

// A log that is cut anywhere behind what was acknowledged has all that was.
func TestTornTail(t *testing.T) {
	path := written(t, 3)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tail := appendRecord(nil, int64(len(good)), Change{Revision: 1004, Key: []byte("object/configmaps/x/late"), Value: []byte("{}")})
	for n := range tail { // the last one is complete
		for _, more := range [][]byte{tail[:n], append(bytes.Clone(tail[:n]), make([]byte, len(tail)-n)...)} {
			if n == len(tail)-1 && len(more) == len(tail) && more[n] == tail[n] {
				continue
			}
			log := append(bytes.Clone(good), more...)
			seen := 0
			end, err := readLog(bytes.NewReader(log), int64(len(log)), func(Change) error { seen++; return nil })
			if err != nil || end != int64(len(good)) || seen != 3 {
				t.Fatalf("%d bytes of a torn record: %d changes up to %d, %v", n, seen, end, err)
			}
		}
	}
}
