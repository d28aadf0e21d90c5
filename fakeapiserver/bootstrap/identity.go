package bootstrap

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// identityLeaseSeconds is how long the Lease of an apiserver's identity counts without being renewed.
const identityLeaseSeconds = 3600

// identity returns the Lease by which an apiserver is known. Its name is that of the machine, hashed (pkg/controlplane/apiserver/server.go).
func identity(o Options) *coordinationv1.Lease {
	sum := sha256.Sum256([]byte(o.Host))
	name := "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
	run := sha256.Sum256(fmt.Appendf(nil, "%s %d", o.Host, o.Now.UnixNano())) // a uid for each start
	holder := fmt.Sprintf("%s_%x-%x-%x-%x-%x", name, run[:4], run[4:6], run[6:8], run[8:10], run[10:16])
	seconds, now := int32(identityLeaseSeconds), metav1.NewMicroTime(o.Now)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, Labels: map[string]string{
			"apiserver.kubernetes.io/identity": "kube-apiserver", corev1.LabelHostname: o.Host,
		}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}
}
