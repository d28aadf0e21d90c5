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
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	unusedGo  = "a claim that is deleted goes once no Pod uses it"
	usedStays = "a claim stays as long as a Pod uses it"
)

// In the end the claims that are deleted and that no Pod uses are gone, whatever Pods come and go (kubernetes.io/docs/concepts/storage/persistent-volumes, storage
// object in use protection).
func TestClaimProtection(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		start(env, "protection", wild.ClaimProtection)
		for range 20 {
			claim := protectedClaim(fmt.Sprintf("c-%d", env.Rand().IntN(4)))
			pod := podWith("p-"+claim.Name, claim.Name)
			there := env.Get(claim) == nil
			switch env.Rand().IntN(4) {
			case 0:
				if !there {
					env.Create(protectedClaim(claim.Name))
				}
			case 1:
				if there && claim.DeletionTimestamp == nil {
					env.Delete(claim)
				}
			case 2:
				if there && claim.DeletionTimestamp == nil && env.Get(pod) != nil {
					env.Create(podWith(pod.Name, claim.Name))
				}
			default:
				if env.Get(pod) == nil {
					remove(env, pod)
				}
			}
			pause(env, 20*time.Second)
		}
		env.StopFaults()
		env.Eventually(unusedGo, time.Hour, func() error {
			var claims corev1.PersistentVolumeClaimList
			if err := env.List(&claims, "default"); err != nil {
				return err
			}
			for _, c := range claims.Items {
				if c.DeletionTimestamp != nil && env.Get(podWith("p-"+c.Name, c.Name)) != nil {
					return fmt.Errorf("the claim %s is being deleted since %v, and no Pod uses it", c.Name, c.DeletionTimestamp)
				}
			}
			return nil
		})
	})
}

// Before it lets a claim go, the controller asks the apiserver for the Pods, as its cache may lag. It takes the answer for all claims of the namespace that wait at
// that moment, as after a start. One that comes later in the row may be given to a Pod, and be deleted, while an earlier one is written: the Pods in hand are older
// than that, the cache lags, and the claim goes from under the Pod.
func TestClaimInUseGoes(t *testing.T) {
	wantFound(t, simtest.Options{Mix: "none", CrashProbability: -1, Seeds: 100}, func(env *simtest.Env) {
		for n := range 3 {
			old := protectedClaim(fmt.Sprintf("old-%d", n))
			env.Create(old)
			env.Delete(old)
		}
		claim, pod := protectedClaim("data"), podWith("database", "data")
		env.Create(claim)
		start(env, "protection", wild.ClaimProtection)
		env.Inject(fault.Fault{Kind: fault.WriteSlow, Target: "protection", Verb: "update", Resource: "persistentvolumeclaims", Duration: 10 * time.Second})
		env.Advance(time.Second)
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "protection", Resource: "pods", Duration: time.Minute})
		env.Create(pod)
		env.Delete(claim)
		env.Always(usedStays, func() error {
			if env.Get(claim) != nil && env.Get(pod) == nil {
				return errors.New("the claim data is gone, and the Pod database uses it")
			}
			return nil
		})
		env.Advance(time.Hour)
	}, usedStays)
}

// protectedClaim is a claim as admission makes it.
func protectedClaim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Finalizers: []string{"kubernetes.io/pvc-protection"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To(""), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

// podWith is a Pod on a node that uses a claim.
func podWith(name, claim string) *corev1.Pod {
	spec := template(nil, corev1.RestartPolicyAlways).Spec
	spec.NodeName = "node-1"
	spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: spec}
}
