package builtin

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const volume = `{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}}}`

// Since when a volume has its phase is a time of the run, or what a client says.
func TestVolumesChangeInTheRunsTime(t *testing.T) {
	o := serve(t, "persistentvolumes", "v1")
	since := func(obj runtime.Object) time.Time {
		t.Helper()
		pv, ok := obj.(*corev1.PersistentVolume)
		if !ok || pv.Status.LastPhaseTransitionTime == nil {
			t.Fatalf("no time is set: %v", obj)
		}
		return pv.Status.LastPhaseTransitionTime.Time
	}
	dry := o.write("", "")
	dry.DryRun = true
	if out, err := o.storage().Create(dry, o.decode("", volume)); err != nil || !since(out.Answer).Equal(noon) {
		t.Errorf("a dry run: %v, %v, want noon", out.Answer, err)
	}
	if at := since(o.mustCreate(volume)); !at.Equal(noon) {
		t.Errorf("created at %v, want noon", at)
	}
	phase := func(p corev1.PersistentVolumePhase, says *metav1.Time) time.Time {
		t.Helper()
		o.now = o.now.Add(time.Hour)
		out, err := o.update("status", "v", func(obj runtime.Object) {
			status := &obj.(*corev1.PersistentVolume).Status
			if status.Phase = p; says != nil {
				status.LastPhaseTransitionTime = says
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return since(out.Stored)
	}
	if at := phase(corev1.VolumeAvailable, nil); !at.Equal(o.now) {
		t.Errorf("another phase: %v, want %v", at, o.now)
	}
	said := metav1.NewTime(noon.Add(time.Minute))
	if at := phase(corev1.VolumeBound, &said); !at.Equal(said.Time) {
		t.Errorf("a client says %v, and the server %v", said, at)
	}
}

// So is the time of a certificate's approval.
func TestApprovalsAreInTheRunsTime(t *testing.T) {
	der, err := x509.CreateCertificateRequest(nil, &x509.CertificateRequest{}, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	o := serve(t, "certificatesigningrequests.certificates.k8s.io", "v1")
	o.mustCreate(fmt.Sprintf(`{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: r},
 spec: {signerName: example.com/s, usages: [client auth], request: %s}}`,
		base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))))
	o.now = o.now.Add(time.Hour)
	said := metav1.NewTime(noon.Add(time.Minute))
	out, err := o.update("approval", "r", func(obj runtime.Object) {
		status := &obj.(*certificatesv1.CertificateSigningRequest).Status
		status.Conditions = append(status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, LastUpdateTime: said,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	conditions := out.Stored.(*certificatesv1.CertificateSigningRequest).Status.Conditions
	if len(conditions) != 1 || !conditions[0].LastUpdateTime.Equal(&said) || !conditions[0].LastTransitionTime.Time.Equal(o.now) {
		t.Errorf("got %v, want what the client has said, %v, and %v", conditions, said, o.now)
	}
}
