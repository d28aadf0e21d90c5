package snapshotter_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/kubernetes-csi/external-snapshotter/client/v8/clientset/versioned/scheme"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	snapshotter "github.com/informersim/informersim/wild/external-snapshotter"
)

const (
	driver      = "example.com"
	contents    = "volumesnapshotcontents.snapshot.storage.k8s.io"
	asWanted    = "each VolumeSnapshot has its content, and is ready; nothing is left of others"
	protection  = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"
	ofTheSource = "snapshot.storage.kubernetes.io/pvc-as-source-protection"
)

// While nothing fails, each VolumeSnapshot of a claim is bound in the end to a content of its own, and ready when that is; those that are deleted
// go, with their contents, and no finalizer is left on the claim.
func TestSnapshots(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved()
	simtest.Run(t, o, testSnapshots)
}

func options(t *testing.T) simtest.Options {
	return simtest.Options{CRDs: crds(t), Scheme: scheme.Scheme, Mix: "none", MutationDetector: simtest.Off} // TestCacheIsChanged
}

// changesEnv is set in a process in which client-go's mutation detector watches the controller's caches.
const changesEnv = "SNAPSHOTTER_CACHES"

// The controller puts the annotation that lets the sidecar delete a snapshot on the very object that is in its informer's cache, and then sends it. If that fails,
// the cache has it all the same, until an event brings the object anew: a try in between takes it for sent. The detector ends the process in which it finds that.
func TestCacheIsChanged(t *testing.T) {
	if os.Getenv(changesEnv) != "" {
		o := options(t)
		o.Seeds, o.MutationDetector = 4, simtest.On
		simtest.Run(t, o, testSnapshots)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$", "-simtest.traces="+t.TempDir())
	cmd.Env = append(os.Environ(), changesEnv+"=1")
	out, err := cmd.CombinedOutput()
	if found := "panic: cache *v1.VolumeSnapshotContent modified"; err == nil || !strings.Contains(string(out), found) {
		t.Fatalf("no %q, with %v: has the controller been mended?\n%s", found, err, out)
	}
	m := regexp.MustCompile(`simtest: the process died during a run: \S+, seed (\d+)`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("it does not say in which run:\n%s", out)
	}
	t.Logf("found with seed %s: the controller changes its informer's cache", m[1])
}

// A content whose create has failed, as far as the controller knows, may be there. If its VolumeSnapshot is deleted meanwhile, the controller takes the
// finalizer from it, and nobody deletes the content, nor the snapshot behind it, which costs money.
func TestLostAnswerLeavesContent(t *testing.T) {
	wantFound(t, "contents are left", func(env *simtest.Env) {
		env.Settle()
		env.Inject(
			fault.Fault{Kind: fault.WriteLost, Target: "controller", Verb: "create", Resource: "volumesnapshotcontents"},
			fault.Fault{Kind: fault.WatchStall, Target: "controller", Resource: "volumesnapshotcontents", Duration: time.Minute},
		)
		s := newSnapshot("s-0")
		env.Create(s)
		env.Eventually("there is a content", time.Minute, func() error {
			if len(env.Cluster().Keys(contents)) == 0 {
				return errors.New("there is none")
			}
			return nil
		})
		env.Delete(s)
	})
}

// The controller keeps the contents that it knows in a store of its own, in which it also puts what its writes answer. An answer that comes after the content has
// gone puts it there once more, and nothing takes it out. The VolumeSnapshot, which is deleted, waits for that content to go until the controller is started anew.
func TestLateAnswerKeepsVolumeSnapshot(t *testing.T) {
	wantFound(t, "the VolumeSnapshot s-0 is being deleted", func(env *simtest.Env) {
		s := newSnapshot("s-0")
		env.Create(s)
		for range 5 {
			env.Advance(time.Second)
			takeSnapshots(env)
		}
		env.Inject(fault.Fault{Kind: fault.WriteSlow, Target: "controller", Verb: "patch", Resource: "volumesnapshotcontents", Duration: 10 * time.Second})
		env.Delete(s)
		env.Advance(time.Second)
		for _, key := range env.Cluster().Keys(contents) {
			env.Delete(&snapshotv1.VolumeSnapshotContent{ObjectMeta: metav1.ObjectMeta{Name: key}})
		}
		takeSnapshots(env)
	})
}

// wantFound wants that what should hold in the end does not, for a reason, after what a test does while nothing else fails.
func wantFound(t *testing.T, why string, do func(env *simtest.Env)) {
	t.Helper()
	found := simtest.Find(t, options(t), func(env *simtest.Env) {
		start(env)
		do(env)
		converge(env)
	})
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != asWanted || !strings.Contains(found.Message, why) {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// crds returns the files of the CustomResourceDefinitions that the project releases.
func crds(t *testing.T) (files []string) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/kubernetes-csi/external-snapshotter/client/v8").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"volumesnapshots", "volumesnapshotcontents", "volumesnapshotclasses"} {
		files = append(files, filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "snapshot.storage.k8s.io_"+name+".yaml"))
	}
	return files
}

func testSnapshots(env *simtest.Env) {
	start(env)
	for range 20 {
		change(env)
		for range 3 {
			env.Advance(time.Duration(env.Rand().IntN(10)) * time.Second)
			takeSnapshots(env)
		}
	}
	converge(env)
}

// start starts the controller, with a claim to take snapshots of.
func start(env *simtest.Env) {
	setUp(env)
	env.Go("controller", func(ctx context.Context) error { return snapshotter.Run(ctx, env.RESTConfig("controller")) })
}

// converge gives the controller almost two hours to agree with what is wanted, and the driver 40 minutes to do its part.
func converge(env *simtest.Env) {
	env.StopFaults()
	for range 40 {
		env.Advance(time.Minute)
		takeSnapshots(env)
	}
	env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
}

// setUp creates a claim that is bound, and a class of snapshots.
func setUp(env *simtest.Env) {
	env.Create(
		&snapshotv1.VolumeSnapshotClass{ObjectMeta: metav1.ObjectMeta{Name: "daily"}, Driver: driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete},
		&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "volume"}, Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "volume"}},
			ClaimRef:               &corev1.ObjectReference{Namespace: "default", Name: "data"},
		}},
	)
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
		VolumeName: "volume", StorageClassName: ptr.To(""), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	env.Create(c)
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "volume"}}
	env.Mutate(v, func() { v.Spec.ClaimRef.UID = c.UID })
	c.Status.Phase, c.ResourceVersion = corev1.ClaimBound, ""
	env.UpdateStatus(c)
}

func newSnapshot(name string) *snapshotv1.VolumeSnapshot {
	return &snapshotv1.VolumeSnapshot{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: snapshotv1.VolumeSnapshotSpec{
		Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: ptr.To("data")}, VolumeSnapshotClassName: ptr.To("daily"),
	}}
}

// change creates a VolumeSnapshot, or deletes one that exists.
func change(env *simtest.Env) {
	s := newSnapshot(fmt.Sprintf("s-%d", env.Rand().IntN(3)))
	switch err := env.Get(s); {
	case err != nil:
		env.Create(newSnapshot(s.Name))
	case s.DeletionTimestamp == nil && len(s.Finalizers) > 0: // one without may be gone at any moment
		env.Patch(s, "application/merge-patch+json", `{"metadata":{"annotations":{"example.com/note":"to be deleted"}}}`)
		env.Delete(s)
	}
}

// takeSnapshots plays the part of the driver and its sidecar: it takes the snapshots of contents, and removes those that are deleted.
func takeSnapshots(env *simtest.Env) {
	var contents snapshotv1.VolumeSnapshotContentList
	if env.List(&contents, "") != nil {
		return
	}
	for i := range contents.Items {
		c := &contents.Items[i]
		switch {
		case c.DeletionTimestamp != nil:
			if slices.Contains(c.Finalizers, protection) {
				c.Finalizers = slices.DeleteFunc(c.Finalizers, func(f string) bool { return f == protection })
				c.ResourceVersion = ""
				env.Update(c)
			}
		case c.Status == nil || !ptr.Deref(c.Status.ReadyToUse, false):
			c.Status = &snapshotv1.VolumeSnapshotContentStatus{SnapshotHandle: &c.Name, ReadyToUse: ptr.To(true), CreationTime: ptr.To(env.Now().UnixNano()), RestoreSize: ptr.To[int64](1 << 30)}
			c.ResourceVersion = ""
			env.UpdateStatus(c)
		}
	}
}

func agree(env *simtest.Env) error {
	var snapshots snapshotv1.VolumeSnapshotList
	var contents snapshotv1.VolumeSnapshotContentList
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}}
	for _, err := range []error{env.List(&snapshots, "default"), env.List(&contents, ""), env.Get(claim)} {
		if err != nil {
			return err
		}
	}
	of := map[string]string{}
	for _, c := range contents.Items {
		of[c.Name] = string(c.Spec.VolumeSnapshotRef.UID)
	}
	for _, s := range snapshots.Items {
		if s.DeletionTimestamp != nil || s.Status == nil || !ptr.Deref(s.Status.ReadyToUse, false) {
			return fmt.Errorf("the VolumeSnapshot %s is being deleted since %v, and has the status %+v", s.Name, s.DeletionTimestamp, s.Status)
		}
		name := ptr.Deref(s.Status.BoundVolumeSnapshotContentName, "")
		if of[name] != string(s.UID) {
			return fmt.Errorf("the VolumeSnapshot %s is bound to %q, which is that of %q", s.Name, name, of[name])
		}
		delete(of, name)
	}
	if len(of) > 0 {
		return fmt.Errorf("contents are left: %v", of)
	}
	if slices.Contains(claim.Finalizers, ofTheSource) {
		return fmt.Errorf("the claim still has the finalizers %v", claim.Finalizers)
	}
	return nil
}
