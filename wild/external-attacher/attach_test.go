package attacher_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	attacher "github.com/informersim/informersim/wild/external-attacher"
)

const (
	driverName    = "example.com"
	asWanted      = "a volume is published on a node as long as there is a VolumeAttachment"
	nothingIsLeft = "nothing is left of VolumeAttachments and volumes that are deleted"
)

// driver is a storage system. It outlives the processes that call it.
type driver struct {
	published map[string]bool // "volume node"
	detached  func(pair string)
}

func (d *driver) Attach(ctx context.Context, volume string, _ bool, node string, _ *csi.VolumeCapability, _, _ map[string]string) (map[string]string, bool, error) {
	if err := work(ctx); err != nil {
		return nil, false, err
	}
	d.published[volume+" "+node] = true
	return nil, false, nil
}

func (d *driver) Detach(ctx context.Context, volume, node string, _ map[string]string) error {
	if err := work(ctx); err != nil {
		return err
	}
	pair := volume + " " + node
	if d.detached != nil && d.published[pair] {
		d.detached(pair)
	}
	delete(d.published, pair)
	return nil
}

// work takes a second, and fails if the caller has crashed meanwhile.
func work(ctx context.Context) error {
	select {
	case <-time.After(time.Second):
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// In the end a volume is published where a VolumeAttachment says so and nowhere else, and those that are deleted go, whatever comes and goes meanwhile;
// so do volumes that are deleted.
func TestAttachments(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		d := setUp(env)
		for range 25 {
			change(env)
			pause(env)
		}
		env.StopFaults()
		env.Eventually(asWanted, time.Hour, func() error { return agree(env, d) })
	})
}

// In the end nothing is left of what is deleted: neither VolumeAttachments, nor volumes, nor where they were published. Those whose volume has gone before
// them are left, which is a finding of its own.
func TestVolumesGo(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, testVolumesGo)
}

func testVolumesGo(env *simtest.Env) {
	d := setUp(env)
	for range 25 {
		if env.Rand().IntN(4) > 0 {
			change(env)
		} else {
			replaceVolume(env)
		}
		pause(env)
	}
	env.StopFaults()
	var all storagev1.VolumeAttachmentList
	if env.List(&all, "") != nil {
		return
	}
	for i := range all.Items {
		if a := &all.Items[i]; a.DeletionTimestamp == nil {
			env.Delete(a)
		}
	}
	env.Eventually(nothingIsLeft, time.Hour, func() error { return agree(env, d) })
}

// The controller keeps a volume as long as its cache has a VolumeAttachment of it. It begins to attach one; meanwhile that is deleted, and another of the same
// name is created, which it does not see yet. The patch that was meant for the first hits the second, and the volume is published. Then the volume is deleted,
// which nobody prevents, and the VolumeAttachment, which stays for ever: to end it the controller has to read the volume.
func TestVolumeGoesBeforeItsAttachment(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 20, Mix: "none"}, func(env *simtest.Env) {
		d := setUp(env)
		env.Settle()
		volume, attachment := newVolume("v-1"), newAttachment("v-1", "node-1")
		env.Inject(fault.Fault{Kind: fault.WriteSlow, Target: "attacher", Resource: "persistentvolumes", Duration: 10 * time.Second})
		env.Create(attachment)
		env.Advance(time.Second)
		env.Delete(attachment)
		env.Advance(time.Second)
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "attacher", Resource: "volumeattachments", Duration: time.Minute})
		env.Create(newAttachment("v-1", "node-1"))
		env.Advance(20 * time.Second)
		env.Delete(volume)
		env.Advance(20 * time.Second)
		env.Delete(newAttachment("v-1", "node-1"))
		env.StopFaults()
		env.Eventually(nothingIsLeft, time.Hour, func() error {
			if err := env.Get(attachment); err != nil {
				return nil
			}
			return fmt.Errorf("the VolumeAttachment %s is being deleted, and published: %t; its volume is there: %t",
				attachment.Name, d.published["v-1 node-1"], env.Get(volume) == nil)
		})
	})
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != nothingIsLeft || !strings.Contains(found.Message, "published: true; its volume is there: false") {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// setUp creates nodes and volumes, and starts the controller.
func setUp(env *simtest.Env) *driver {
	d := &driver{published: map[string]bool{}}
	for _, n := range []string{"node-1", "node-2"} {
		env.Create(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driverName, NodeID: n}}}})
	}
	env.Create(newVolume("v-1"), newVolume("v-2"))
	env.Go("attacher", func(ctx context.Context) error { return attacher.Run(ctx, env.RESTConfig("attacher"), driverName, d) })
	return d
}

func newVolume(name string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driverName, VolumeHandle: name}},
	}}
}

// newAttachment has a name that depends on volume and node alone, as Kubernetes gives it: the next one for the same pair is called the same.
func newAttachment(volume, node string) *storagev1.VolumeAttachment {
	return &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: volume + "." + node}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: driverName, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume},
	}}
}

// change attaches a volume to a node, or detaches it.
func change(env *simtest.Env) {
	volume, node := fmt.Sprintf("v-%d", 1+env.Rand().IntN(2)), fmt.Sprintf("node-%d", 1+env.Rand().IntN(2))
	a := newAttachment(volume, node)
	switch {
	case env.Get(a) != nil:
		env.Create(newAttachment(volume, node))
	case a.DeletionTimestamp == nil:
		env.Delete(a)
	}
}

// replaceVolume deletes a volume, or creates one that has gone.
func replaceVolume(env *simtest.Env) {
	v := newVolume(fmt.Sprintf("v-%d", 1+env.Rand().IntN(2)))
	switch {
	case env.Get(v) != nil:
		env.Create(newVolume(v.Name))
	case v.DeletionTimestamp == nil:
		env.Delete(v)
	}
}

func pause(env *simtest.Env) { env.Advance(time.Duration(env.Rand().IntN(20)) * time.Second) }

func agree(env *simtest.Env, d *driver) error {
	var attachments storagev1.VolumeAttachmentList
	var volumes corev1.PersistentVolumeList
	if err := errors.Join(env.List(&attachments, ""), env.List(&volumes, "")); err != nil {
		return err
	}
	published := maps.Clone(d.published)
	for _, a := range attachments.Items {
		pair := *a.Spec.Source.PersistentVolumeName + " " + a.Spec.NodeName
		if a.DeletionTimestamp != nil && !slices.ContainsFunc(volumes.Items, func(v corev1.PersistentVolume) bool { return v.Name == *a.Spec.Source.PersistentVolumeName }) {
			delete(published, pair)
			continue
		}
		if a.DeletionTimestamp != nil || !a.Status.Attached || !published[pair] {
			return fmt.Errorf("the VolumeAttachment %s is being deleted since %v, attached: %t, published: %t", a.Name, a.DeletionTimestamp, a.Status.Attached, published[pair])
		}
		delete(published, pair)
	}
	if len(published) > 0 {
		return fmt.Errorf("without a VolumeAttachment are published: %s", strings.Join(slices.Sorted(maps.Keys(published)), ", "))
	}
	for _, v := range volumes.Items {
		if v.DeletionTimestamp != nil {
			return fmt.Errorf("the volume %s is being deleted, and has the finalizers %v", v.Name, v.Finalizers)
		}
	}
	return nil
}
