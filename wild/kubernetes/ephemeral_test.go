package kubernetes_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const haveVolumes = "each Pod has the claim of its ephemeral volume"

// In the end each Pod has a claim of its own for its ephemeral volume, whichever Pods and claims are deleted (kubernetes.io/docs/concepts/storage/ephemeral-volumes). Deletions
// that the controller's watches have missed leave Pods without, which are findings of their own; so it is started again before the end. With
// some seeds each answer takes many minutes, and a deletion is refused several times: so the test may wait for longer than by default.
func TestEphemeralVolumes(t *testing.T) {
	missed := simtest.Exception{Property: simtest.NoLostDeletion, Object: "persistentvolumeclaims", Why: "its handler takes no tombstone, as TestMissedDeletionLeavesPodWithoutClaim shows"}
	simtest.Run(t, simtest.Options{GarbageCollection: true, VirtualBodyTimeout: 24 * time.Hour, Properties: simtest.WellBehaved(missed)}, func(env *simtest.Env) {
		start(env, "ephemeral", wild.EphemeralVolumes)
		for range 25 {
			pod := podWithVolume(fmt.Sprintf("p-%d", env.Rand().IntN(3)))
			switch there := env.Get(pod) == nil; {
			case !there:
				env.Create(podWithVolume(pod.Name))
			case env.Rand().IntN(2) == 0:
				removeClaim(env, pod.Name)
			default:
				remove(env, pod)
			}
			pause(env, 20*time.Second)
		}
		startAnew(env, "ephemeral")
		env.Eventually(haveVolumes, time.Hour, func() error { return volumesAreTheirs(env) })
	})
}

// A claim that is deleted is created again, says the controller, if there is a Pod that needs it. But if the watch has missed the deletion, its informer hands the handler what it has of the
// claim, as a DeletedFinalStateUnknown, which that ignores.
func TestMissedDeletionLeavesPodWithoutClaim(t *testing.T) {
	wantFound(t, simtest.Options{Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		pod := podWithVolume("web")
		env.Create(pod)
		start(env, "ephemeral", wild.EphemeralVolumes)
		env.Advance(time.Minute)
		missUpdatesOf(env, "ephemeral", "persistentvolumeclaims", func() { removeClaim(env, pod.Name) }, func(int) simtest.Object {
			c := protectedClaim("")
			c.GenerateName, c.Finalizers = "other-", nil
			return c
		})
		env.Eventually(haveVolumes, time.Hour, func() error { return volumesAreTheirs(env) })
	}, haveVolumes)
}

// A Pod of a StatefulSet is deleted, and with it its claim; the watch of Pods ends before the Pod has gone. When it is back, there is another Pod of that name: to an informer, an update of the
// former one. The controller does not listen for updates, since a Pod's volumes cannot change.
func TestRecreatedPodHasNoClaim(t *testing.T) {
	wantFound(t, simtest.Options{GarbageCollection: true, Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		pod := podWithVolume("db-0")
		pod.Finalizers = []string{"example.com/held"} // as a kubelet holds a Pod until its containers have ended
		env.Create(pod)
		start(env, "ephemeral", wild.EphemeralVolumes)
		env.Advance(time.Minute)
		env.Delete(pod)
		env.Advance(10 * time.Second)
		missUpdates(env, "ephemeral", func() {
			env.Mutate(pod, func() { pod.Finalizers = nil })
			env.Advance(time.Second)
			env.Create(podWithVolume("db-0"))
		})
		env.Eventually(haveVolumes, time.Hour, func() error { return volumesAreTheirs(env) })
	}, haveVolumes)
}

func podWithVolume(name string) *corev1.Pod {
	spec := template(nil, corev1.RestartPolicyAlways).Spec
	spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
		VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: protectedClaim("").Spec},
	}}}}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: spec}
}

// removeClaim deletes the claim of a Pod, which may have none. The request may fail.
func removeClaim(env *simtest.Env, pod string) {
	if client, err := kubernetes.NewForConfig(env.RESTConfig("user")); err == nil {
		_ = client.CoreV1().PersistentVolumeClaims("default").Delete(env.Context(), pod+"-scratch", metav1.DeleteOptions{})
	}
}

func volumesAreTheirs(env *simtest.Env) error {
	var pods corev1.PodList
	if err := env.List(&pods, "default"); err != nil {
		return err
	}
	for _, p := range pods.Items {
		if len(p.Spec.Volumes) == 0 {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: p.Name + "-scratch"}}
		if err := env.Get(claim); err != nil {
			return fmt.Errorf("%s has no claim: %w", p.Name, err)
		}
		if !metav1.IsControlledBy(claim, &p) {
			return fmt.Errorf("the claim of %s belongs to %v", p.Name, claim.OwnerReferences)
		}
	}
	return nil
}
