package kubernetes_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	bound      = "a claim has a volume of its own, or none is left"
	oneForEach = "no volume is bound to two claims"
)

// In the end each claim is bound to a volume, which is bound to it, unless no volume is left; the volumes of claims that are deleted are released. At no time are two
// claims bound to one volume.
func TestPersistentVolumes(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		env.Always(oneForEach, func() error {
			var claims corev1.PersistentVolumeClaimList
			if err := env.List(&claims, "default"); err != nil {
				return err
			}
			of := map[string]string{}
			for _, c := range claims.Items {
				if c.Status.Phase != corev1.ClaimBound {
					continue
				}
				if other := of[c.Spec.VolumeName]; other != "" {
					return fmt.Errorf("%s is bound to %s and %s", c.Spec.VolumeName, other, c.Name)
				}
				of[c.Spec.VolumeName] = c.Name
			}
			return nil
		})
		start(env, "volumes", wild.PersistentVolumes)
		for range 25 {
			changeVolumes(env)
			pause(env, 20*time.Second)
		}
		env.StopFaults()
		env.Eventually(bound, time.Hour, func() error { return areBound(env) })
	})
}

// changeVolumes creates or deletes one of a few claims, or a volume; of volumes only those are deleted that no claim has.
func changeVolumes(env *simtest.Env) {
	capacity, modes := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	if env.Rand().IntN(2) == 0 {
		c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("c-%d", env.Rand().IntN(3))}}
		switch {
		case env.Get(c) != nil:
			env.Create(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: c.Name}, Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: ptr.To(""), AccessModes: modes, Resources: corev1.VolumeResourceRequirements{Requests: capacity},
			}})
		case c.DeletionTimestamp == nil:
			env.Delete(c)
		}
		return
	}
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("v-%d", env.Rand().IntN(3))}}
	switch {
	case env.Get(v) != nil:
		env.Create(&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: v.Name}, Spec: corev1.PersistentVolumeSpec{
			Capacity: capacity, AccessModes: modes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "example.com", VolumeHandle: v.Name}},
		}})
	case v.DeletionTimestamp == nil && v.Status.Phase == corev1.VolumeReleased:
		env.Delete(v)
	}
}

func areBound(env *simtest.Env) error {
	var claims corev1.PersistentVolumeClaimList
	var volumes corev1.PersistentVolumeList
	if err := errors.Join(env.List(&claims, "default"), env.List(&volumes, "")); err != nil {
		return err
	}
	of, available := map[string]corev1.PersistentVolume{}, 0
	for _, v := range volumes.Items {
		if of[v.Name] = v; v.Status.Phase == corev1.VolumeAvailable {
			available++
		}
	}
	waiting := 0
	for _, c := range claims.Items {
		v, there := of[c.Spec.VolumeName]
		switch {
		case c.Spec.VolumeName == "" && c.Status.Phase == corev1.ClaimPending:
			waiting++
		case !there || c.Status.Phase != corev1.ClaimBound || v.Status.Phase != corev1.VolumeBound || v.Spec.ClaimRef == nil || v.Spec.ClaimRef.UID != c.UID:
			return fmt.Errorf("the claim %s is %s, with the volume %q, which is %s for %v", c.Name, c.Status.Phase, c.Spec.VolumeName, v.Status.Phase, v.Spec.ClaimRef)
		}
		delete(of, c.Spec.VolumeName)
	}
	if waiting > 0 && available > 0 {
		return fmt.Errorf("%d claims wait, and %d volumes are available", waiting, available)
	}
	for name, v := range of { // the order is that of no requirement: the first error is one of several
		if v.Status.Phase != corev1.VolumeAvailable && v.Status.Phase != corev1.VolumeReleased {
			return fmt.Errorf("the volume %s, which no claim has, is %s for %v", name, v.Status.Phase, v.Spec.ClaimRef)
		}
	}
	return nil
}
