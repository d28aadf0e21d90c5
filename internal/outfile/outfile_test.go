//go:build unix

package outfile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func put(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, name, text string) {
	t.Helper()
	if got, err := os.ReadFile(name); err != nil || string(got) != text {
		t.Errorf("%s is %q (%v), want %q", name, got, err, text)
	}
}

// names are the entries of the current folder, hidden ones too.
func names(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestWriteKeepsModeAndLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "old", "before", 0o640)
	if err := os.Mkdir("folder", 0o777); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": "old", "folder/far": "../link", "dangling": "folder/new"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for path, file := range map[string]string{"link": "old", "folder/far": "old", "dangling": "folder/new", "plain": "plain", "./folder/../old": "old"} {
		if err := (Target{Path: path}).Write(t.Context(), []byte(path)); err != nil {
			t.Fatal(err)
		}
		want(t, file, path)
	}
	if info, err := os.Lstat("link"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	if info, err := os.Stat("old"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode was not kept: %v %v", info, err)
	}
	if got := names(t); got != "dangling folder link old plain" {
		t.Errorf("left: %s", got)
	}
}

// What the user gave is not replaced, by whatever name, and other files only if they are of the right kind.
func TestRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"input", "other", "ours", "empty"} {
		text := name
		if name == "empty" {
			text = ""
		}
		put(t, name, text, 0o666)
	}
	if err := errors.Join(os.Symlink("input", "soft"), os.Link("input", "hard"), os.Mkdir("folder", 0o777), os.Symlink(".", "here")); err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("input")
	if err != nil {
		t.Fatal(err)
	}
	ours := func(path string) bool { return filepath.Base(path) == "ours" }
	for path, says := range map[string]string{
		"input": "is the same file as the input", "./input": "is the same file", abs: "is the same file", "here/input": "is the same file",
		"soft": "is the same file", "hard": "is the same file",
		"other":  "-o: other exists and is not a thing of ours; name another file, or overwrite it with --force",
		"folder": "folder is a directory", "other/x": "not a directory", "missing/x": "no such file",
		"ours": "", "empty": "", "new": "",
	} {
		target := Target{Path: path, Flag: "-o", Inputs: []string{"nowhere", "input"}, Replaces: ours, Kind: "a thing of ours"}
		err := target.Check()
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "-o: ")) {
			t.Errorf("Check(%s) = %v, want %q", path, err, says)
		}
		target.Default = true
		if err := target.Check(); err != nil && (strings.HasPrefix(err.Error(), "-o") || !strings.HasSuffix(err.Error(), " (-o names another file)")) {
			t.Errorf("nobody gave %s: %v", path, err)
		}
		target.Final = true
		if err := target.Check(); err != nil && strings.Contains(err.Error(), "--force") {
			t.Errorf("the command has no --force: %v", err)
		}
		if says == "" || path == "other/x" || path == "missing/x" {
			continue
		}
		if err := target.Write(t.Context(), []byte("overwritten")); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	want(t, "input", "input")
	want(t, "other", "other")
	if got := names(t); strings.Contains(got, ".informersim") {
		t.Errorf("left: %s", got)
	}
}

func TestDiscardAndFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "old", "before", 0o666)
	for _, path := range []string{"old", "new"} {
		f, err := Target{Path: path}.Create(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, "half"); err != nil {
			t.Fatal(err)
		}
		f.Discard()
		f.Discard()
		if _, err := io.WriteString(f, "late"); err == nil {
			t.Error("a write after Discard succeeds")
		}
		// A write that fails, as on a full disk.
		if f, err = (Target{Path: path, Flag: "-o"}).Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.f.Close()
		if _, err := io.WriteString(f, "x"); err == nil || !strings.HasPrefix(err.Error(), "-o: writing "+path+": ") {
			t.Errorf("the error is %v", err)
		}
		if err := f.Commit(); err == nil {
			t.Error("a file that could not be written is put in place")
		}
	}
	// Something came there in the meantime.
	f, err := Target{Path: "new", Replaces: func(string) bool { return false }, Kind: "ours"}.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	put(t, "new", "another's", 0o666)
	if err := f.Commit(); err == nil {
		t.Error("a file that came since is replaced")
	}
	want(t, "old", "before")
	want(t, "new", "another's")
	if got := names(t); got != "new old" {
		t.Errorf("left: %s", got)
	}
}

func TestStreams(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := (Target{Path: os.DevNull}).Write(t.Context(), []byte("x")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%s is now %v, %v", os.DevNull, info, err)
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		if err := (Target{Path: "/dev/full"}).Write(t.Context(), []byte("x")); !strings.Contains(err.Error(), "writing /dev/full: no space left on device") {
			t.Errorf("/dev/full: %v", err)
		}
	}
	if err := syscall.Mkfifo("fifo", 0o666); err != nil {
		t.Skip(err)
	}
	waits, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := (Target{Path: "fifo"}).Write(waits, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a FIFO that nobody reads: %v", err)
	}
	if err := syscall.Mkfifo("read", 0o666); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		b, _ := os.ReadFile("read")
		read <- string(b)
	}()
	if err := (Target{Path: "read"}).Write(t.Context(), []byte("through")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "through" {
		t.Errorf("the FIFO's reader got %q", got)
	}
	if (Target{Path: "fifo"}).Regular() || !(Target{Path: "new"}).Regular() {
		t.Error("Regular is wrong")
	}
}

func TestIsTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "trace", `{"trace":"informersim","version":1}`+"\n", 0o666)
	put(t, "other", `{"trace":"informer"}`, 0o666)
	put(t, "marked", "\uFEFF"+`{"trace":"informersim","version":1}`+"\n", 0o666)
	put(t, "short", "\uFEFF", 0o666)
	if !IsTrace("trace") || !IsTrace("marked") || IsTrace("short") || IsTrace("other") || IsTrace("nothing") || IsTrace(".") {
		t.Error("IsTrace is wrong")
	}
}

// A folder in which no file can be made is named with the file that was asked for, and not with the one that is written first.
func TestFolderThatTakesNoFile(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("there is no /proc, in which nobody can make a file")
	}
	target := Target{Path: "/proc/report.html"}
	for call, err := range map[string]error{"Write": target.Write(t.Context(), []byte("x")), "Check": target.Check()} {
		if err == nil || !strings.Contains(err.Error(), "/proc/report.html cannot be made in its folder /proc: ") || strings.Contains(err.Error(), ".informersim-") {
			t.Errorf("the error of %s is %v", call, err)
		}
	}
}
