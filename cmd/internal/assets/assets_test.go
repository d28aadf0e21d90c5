package assets

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// copyOf writes a copy of this test's program, whose build says that it is of this module.
func copyOf(t *testing.T, path string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// files checks that a folder has the programs and nothing else, and returns what they are.
func files(t *testing.T, dir string) map[string]os.FileInfo {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]os.FileInfo{}
	for _, e := range entries {
		if all[e.Name()], err = e.Info(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range Names {
		if info := all[name]; info == nil || info.Mode().Perm()&0o111 == 0 {
			t.Errorf("%s: %+v, want a program", name, info)
		}
	}
	if len(all) != len(Names) {
		t.Errorf("the folder has %v", all)
	}
	return all
}

// The programs stay what they are when the one that they were made from is gone, and become the new one when there is a new one.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	server := copyOf(t, filepath.Join(dir, "server"))
	want, err := os.ReadFile(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for range 2 {
		got, err := Write("a/b", server)
		if err != nil || got != filepath.Join(dir, "a", "b") {
			t.Fatalf("%q, %v", got, err)
		}
	}
	before := files(t, "a/b")
	if err := os.Remove(server); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("a/b/etcd"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("without its original, etcd has %d bytes, %v", len(got), err)
	}
	if _, err := Write("a/b", server); err == nil || !strings.Contains(err.Error(), server) {
		t.Errorf("without a server: %v", err)
	}
	if err := os.WriteFile(copyOf(t, server), append(want, "a newer one"...), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Write("a/b", server); err != nil {
		t.Fatal(err)
	}
	for name, info := range files(t, "a/b") { // order: each is checked by itself
		if os.SameFile(info, before[name]) || info.Size() == before[name].Size() {
			t.Errorf("%s is still the old one", name)
		}
	}
}

// Commands that run at the same time write the same programs, and leave nothing else.
func TestWriteAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	server := copyOf(t, filepath.Join(t.TempDir(), "server"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := Write(dir, server); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	files(t, dir)
}

// What informersim has not written is not overwritten.
func TestRefusesForeignPrograms(t *testing.T) {
	server := copyOf(t, filepath.Join(t.TempDir(), "server"))
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command to serve as a foreign program")
	}
	for what, tt := range map[string]struct { // order: each has its own folder
		make func(path string) error
		want string
	}{
		"a script": {func(path string) error { return os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755) }, "is a program that informersim has not written"},
		"a folder": {func(path string) error { return os.Mkdir(path, 0o755) }, "is not a file"},
		"Go's own": {func(path string) error {
			data, err := os.ReadFile(tool)
			if err == nil {
				err = os.WriteFile(path, data, 0o755)
			}
			return err
		}, "is cmd/go, which informersim has not written: name another folder, or remove it"},
	} {
		dir := t.TempDir()
		if err := tt.make(filepath.Join(dir, "etcd")); err != nil {
			t.Fatal(err)
		}
		if _, err := Write(dir, server); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Where there are no hard links, the programs are copies, which are as good.
func TestCopies(t *testing.T) {
	server := copyOf(t, filepath.Join(t.TempDir(), "server"))
	info, err := os.Stat(server)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "etcd")
	if err := copied(path, server, info); err != nil {
		t.Fatal(err)
	}
	if same, err := current(path, info); !same || err != nil {
		t.Errorf("a copy is not taken for what it is: %v, %v", same, err)
	}
}
