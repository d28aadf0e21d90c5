package builtin

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/certificates"
	api "k8s.io/kubernetes/pkg/apis/core"
)

// restampTransitions replaces, in place, the times at which a status has changed, where Kubernetes' strategies take them from the clock. A client may
// set them as well, and then they stay. was is nil for a new object.
func (s *session) restampTransitions(obj, was runtime.Object) {
	switch obj := obj.(type) {
	case *api.PersistentVolume:
		var before *metav1.Time
		if old, ok := was.(*api.PersistentVolume); ok {
			before = old.Status.LastPhaseTransitionTime
		}
		if at := obj.Status.LastPhaseTransitionTime; at != nil && s.fromClock(at, before) {
			now := s.now()
			obj.Status.LastPhaseTransitionTime = &now
		}
	case *certificates.CertificateSigningRequest:
		var old []certificates.CertificateSigningRequestCondition
		if was, ok := was.(*certificates.CertificateSigningRequest); ok {
			old = was.Status.Conditions
		}
		for i := range obj.Status.Conditions {
			c, before := &obj.Status.Conditions[i], &certificates.CertificateSigningRequestCondition{}
			for j := range old {
				if old[j].Type == c.Type && old[j].Status == c.Status {
					before = &old[j]
				}
			}
			if s.fromClock(&c.LastUpdateTime, &before.LastUpdateTime) {
				c.LastUpdateTime = s.now()
			}
			if s.fromClock(&c.LastTransitionTime, &before.LastTransitionTime) {
				c.LastTransitionTime = s.now()
			}
		}
	}
}

// fromClock reports whether a time is from this process's clock: then it has a monotonic reading, which no request carries. A dry run shows
// copies without one, so there it is whatever has changed.
func (s *session) fromClock(at, before *metav1.Time) bool {
	if s.write.DryRun {
		return !at.Equal(before)
	}
	return at.Time != at.Round(0)
}
