package snapshotter_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
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
	snapshotter "github.com/informersim/informersim/wild/external-snapshotter"
)

const (
	driver      = "example.com"
	asWanted    = "each VolumeSnapshot has its content, and is ready; nothing is left of others"
	protection  = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"
	ofTheSource = "snapshot.storage.kubernetes.io/pvc-as-source-protection"
)

// While nothing fails, each VolumeSnapshot of a claim is bound in the end to a content of its own, and ready when that is; those that are deleted
// go, with their contents, and no finalizer is left on the claim.
func TestSnapshots(t *testing.T) {
	simtest.Run(t, simtest.Options{CRDs: crds(t), Scheme: scheme.Scheme, Mix: "none"}, testSnapshots)
}

// A content whose create has failed, as far as the controller knows, may be there. If its VolumeSnapshot is deleted meanwhile, the controller takes the
// finalizer from it, and nobody deletes the content, nor the snapshot behind it, which costs money.
func TestLostAnswerLeavesContent(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 100, CRDs: crds(t), Scheme: scheme.Scheme}, testSnapshots)
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != asWanted || !strings.Contains(found.Message, "contents are left") {
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
	setUp(env)
	env.Go("controller", func(ctx context.Context) error { return snapshotter.Run(ctx, env.RESTConfig("controller")) })
	for range 20 {
		change(env)
		for range 3 {
			env.Advance(time.Duration(env.Rand().IntN(10)) * time.Second)
			takeSnapshots(env)
		}
	}
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

// change creates a VolumeSnapshot, or deletes one that exists.
func change(env *simtest.Env) {
	s := &snapshotv1.VolumeSnapshot{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("s-%d", env.Rand().IntN(3))}}
	switch err := env.Get(s); {
	case err != nil:
		s.Spec = snapshotv1.VolumeSnapshotSpec{
			Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: ptr.To("data")}, VolumeSnapshotClassName: ptr.To("daily"),
		}
		env.Create(s)
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
