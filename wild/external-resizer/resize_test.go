package resizer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	resizer "github.com/informersim/informersim/wild/external-resizer"
)

const (
	asWanted = "a claim has what it asks for, and says so"
	noMore   = "no object promises more than there is, and no volume shrinks"
	gi       = 1 << 30
)

// driver is a storage system that can grow volumes in use. It outlives the processes that call it.
type driver struct {
	size  int64
	calls int
}

func (*driver) Name() string                              { return "example.com" }
func (*driver) DriverSupportsControlPlaneExpansion() bool { return true }
func (*driver) CanSupport(pv *corev1.PersistentVolume, _ *corev1.PersistentVolumeClaim) bool {
	return pv.Spec.CSI != nil && pv.Spec.CSI.Driver == "example.com"
}

// Resize takes a second. Every fifth call fails when its work is done, or, as every third, before.
func (d *driver) Resize(_ *corev1.PersistentVolume, request resource.Quantity) (resource.Quantity, bool, error) {
	time.Sleep(time.Second)
	d.calls++
	if d.calls%3 == 0 {
		return resource.Quantity{}, false, errors.New("no answer")
	}
	d.size = max(d.size, request.Value())
	if d.calls%5 == 0 {
		return resource.Quantity{}, false, errors.New("no answer")
	}
	return *resource.NewQuantity(d.size, resource.BinarySI), false, nil
}

// In the end a claim has what it asks for, whatever it has asked for meanwhile, and no expansion is left in progress. At no time does the claim or the volume say
// that there is more than there is, nor less than it has said before.
func TestResize(t *testing.T) {
	simtest.Run(t, simtest.Options{AllowLeaks: true, Properties: simtest.WellBehaved()}, func(env *simtest.Env) { // its workers end with the process
		d := &driver{size: gi}
		setUp(env)
		claim, volume := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}}, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "volume"}}
		ofClaim, ofVolume := int64(gi), int64(gi)
		env.Always(noMore, func() error {
			if err := errors.Join(env.Get(claim), env.Get(volume)); err != nil {
				return err
			}
			c, v := claim.Status.Capacity.Storage().Value(), volume.Spec.Capacity.Storage().Value()
			if c > d.size || v > d.size || c < ofClaim || v < ofVolume {
				return fmt.Errorf("the claim has %d, the volume %d, and had %d and %d; there are %d", c, v, ofClaim, ofVolume, d.size)
			}
			ofClaim, ofVolume = c, v
			return nil
		})
		env.Go("resizer", func(ctx context.Context) error { return resizer.Run(ctx, env.RESTConfig("resizer"), d) })
		for range 12 {
			ask(env)
			env.Advance(time.Duration(env.Rand().IntN(40)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
}

// setUp creates a claim that is bound to a volume.
func setUp(env *simtest.Env) {
	capacity := corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(gi, resource.BinarySI)}
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
		VolumeName: "volume", StorageClassName: ptr.To("grows"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: capacity},
	}}
	env.Apply("{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: grows}, provisioner: example.com, allowVolumeExpansion: true}")
	env.Create(c)
	env.Create(&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "volume"}, Spec: corev1.PersistentVolumeSpec{
		Capacity: capacity, AccessModes: c.Spec.AccessModes, StorageClassName: "grows",
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "example.com", VolumeHandle: "volume"}},
		ClaimRef:               &corev1.ObjectReference{Namespace: "default", Name: "data", UID: c.UID},
	}})
	c.Status.Phase, c.Status.Capacity, c.ResourceVersion = corev1.ClaimBound, capacity, ""
	env.UpdateStatus(c)
}

// ask has the claim ask for more, or for less than before but more than it has.
func ask(env *simtest.Env) {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}}
	env.Mutate(c, func() {
		has, wants := c.Status.Capacity.Storage().Value(), c.Spec.Resources.Requests.Storage().Value()
		next := wants + gi*(1+env.Rand().Int64N(3))
		if wants > has+gi && env.Rand().IntN(3) == 0 {
			next = has + gi
		}
		c.Spec.Resources.Requests[corev1.ResourceStorage] = *resource.NewQuantity(next, resource.BinarySI)
	})
}

func agree(env *simtest.Env) error {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}}
	if err := env.Get(c); err != nil {
		return err
	}
	if c.Status.Capacity.Storage().Cmp(*c.Spec.Resources.Requests.Storage()) < 0 || len(c.Status.AllocatedResourceStatuses) > 0 {
		return fmt.Errorf("the claim asks for %v, and has the status %+v", c.Spec.Resources.Requests.Storage(), c.Status)
	}
	return nil
}
