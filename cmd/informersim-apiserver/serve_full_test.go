//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// A full disk stops writes and nothing else; once there is room, they go on.
func TestServeOnFullDisk(t *testing.T) {
	// The limit of file sizes, which anyone may set for a process of theirs, fails like a full disk.
	t.Run("limit", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "session.db")
		limit := func(p *serving, bytes uint64) {
			t.Helper()
			pair := [2]uint64{bytes, ^uint64(0)}
			if _, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(p.cmd.Process.Pid), 1 /* RLIMIT_FSIZE */, uintptr(unsafe.Pointer(&pair)), 0, 0, 0); errno != 0 {
				t.Fatal(errno)
			}
		}
		servesFull(t, path, "file too large", fits, func(p *serving) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			limit(p, uint64(info.Size())+8<<10)
		}, func(p *serving) { limit(p, ^uint64(0)) })
	})
	t.Run("tmpfs", func(t *testing.T) {
		folder := t.TempDir()
		if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=256k"); err != nil {
			t.Skipf("a tmpfs cannot be mounted here (%v): only root may", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		ballast := filepath.Join(folder, "ballast")
		servesFull(t, filepath.Join(folder, "session.db"), "no space left on device", needsRoom, func(*serving) {
			f, err := os.Create(ballast)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for err == nil {
				_, err = f.Write(make([]byte, 4096))
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
		}, func(*serving) {
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// Whether a restore, for which the file is written anew, is possible on the full disk.
const (
	fits      = false
	needsRoom = true
)

func servesFull(t *testing.T, path, reason string, restoring bool, fill, free func(*serving)) {
	p := serveIn(t, "--data", path, "--control", "127.0.0.1:0")
	client := p.client().CoreV1().ConfigMaps("default")
	w, err := client.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var acknowledged []*corev1.ConfigMap
	create := func() error {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "m-"}, Data: map[string]string{"k": strings.Repeat("x", 1000)}}
		stored, err := client.Create(t.Context(), cm, metav1.CreateOptions{})
		if err == nil {
			acknowledged = append(acknowledged, stored)
		}
		return err
	}
	if err := create(); err != nil {
		t.Fatal(err)
	}
	fill(p)
	for err = nil; err == nil; {
		if err = create(); len(acknowledged) > 1000 {
			t.Fatal("the disk does not fill up")
		}
	}
	first := acknowledged[0]
	for _, err := range []error{
		err, create(),
		func() error {
			_, err := client.Patch(t.Context(), first.Name, "application/merge-patch+json", []byte(`{"data":{"k":"`+strings.Repeat("y", 5000)+`"}}`), metav1.PatchOptions{})
			return err
		}(),
	} {
		var status apierrors.APIStatus
		if !errors.As(err, &status) || status.Status().Code != http.StatusInsufficientStorage || status.Status().Reason != "InsufficientStorage" || !strings.Contains(err.Error(), reason) {
			t.Errorf("the error of a write is %v (%+v), want a 507 that says %q", err, status, reason)
		}
	}
	if restoring == needsRoom {
		p.want(507, reason, "POST", "control:/restore?rev="+first.ResourceVersion, "")
	}
	p.want(500, "[-]etcd-readiness failed: --data: "+path+" cannot take this write", "GET", "/readyz", "")
	p.want(200, "ok", "GET", "/livez", "")
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != len(acknowledged) {
		t.Errorf("a list has %d objects, %v; %d were acknowledged", len(list.Items), err, len(acknowledged))
	}
	if got, err := client.Get(t.Context(), first.Name, metav1.GetOptions{}); err != nil || got.ResourceVersion != first.ResourceVersion {
		t.Errorf("%+v, %v", got, err)
	}

	free(p)
	p.want(200, "ok", "GET", "/readyz", "")
	if err := create(); err != nil {
		t.Errorf("there is room, and %v", err)
	}
	// The watch has what was acknowledged, and nothing else.
	for i, want := range acknowledged {
		e := nextEvent(t, w)
		if got, ok := e.Object.(*corev1.ConfigMap); !ok || e.Type != watch.Added || got.Name != want.Name || got.ResourceVersion != want.ResourceVersion {
			t.Fatalf("event %d is %s %+v, want %s at %s", i, e.Type, e.Object, want.Name, want.ResourceVersion)
		}
	}
	p.kill()
	after := serveIn(t, "--data", path)
	again, err := after.client().CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(again.Items) != len(acknowledged) {
		t.Errorf("after a restart there are %d objects, %v; %d were acknowledged", len(again.Items), err, len(acknowledged))
	}
	after.kill()
}

func nextEvent(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case e, open := <-w.ResultChan():
		if open {
			return e
		}
	case <-time.After(30 * time.Second):
	}
	t.Fatal("the watch has no event")
	return watch.Event{}
}

// The file that is moved away while it is served takes no writes until it is back.
func TestServeWithoutItsFile(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t, "--data", "session.db")
	const maps = "/api/v1/namespaces/default/configmaps"
	body := func(name string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q}}`, name)
	}
	p.want(201, "", "POST", maps, body("a"))
	if err := os.Rename("session.db", "elsewhere.db"); err != nil {
		t.Fatal(err)
	}
	answer := p.want(503, "session.db is gone while it is in use", "POST", maps, body("b"))
	var status metav1.Status
	if err := json.Unmarshal([]byte(answer), &status); err != nil || status.Kind != "Status" || status.Reason != metav1.StatusReasonServiceUnavailable {
		t.Errorf("the answer is %s", answer)
	}
	p.want(500, "session.db is gone while it is in use", "GET", "/readyz", "")
	p.want(200, `"name":"a"`, "GET", maps+"/a", "")
	p.want(404, "", "GET", maps+"/b", "")
	if err := os.Rename("elsewhere.db", "session.db"); err != nil {
		t.Fatal(err)
	}
	p.want(200, "ok", "GET", "/readyz", "")
	p.want(201, "", "POST", maps, body("b"))
	p.kill()
	serveIn(t, "--data", "session.db").want(200, `"name":"b"`, "GET", maps+"/b", "")
}
