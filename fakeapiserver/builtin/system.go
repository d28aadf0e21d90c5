package builtin

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/ptr"
)

// Kubernetes' code makes uids of random numbers and times of the clock. What of that reaches an object is replaced here.

// now returns the write's time with the precision of the API.
func (s *session) now() metav1.Time {
	return metav1.NewTime(s.write.System.Now.UTC().Truncate(time.Second))
}

// stamp sets the uid and the times of a new object, in place.
func (s *session) stamp(obj runtime.Object) {
	if m, err := meta.Accessor(obj); err == nil {
		m.SetUID(s.write.System.UID)
		m.SetCreationTimestamp(s.now())
	}
	s.restampTransitions(obj, nil)
}

// restamp replaces, in place, the times that the server has set in an object that was was.
func (s *session) restamp(obj, was runtime.Object) {
	m, err := meta.Accessor(obj)
	old, oldErr := meta.Accessor(was)
	if err != nil || oldErr != nil {
		return
	}
	switch {
	case s.deleting != nil:
		s.restampDeletion(m, old)
		if _, ok := obj.(*api.Namespace); ok {
			orderFinalizers(m, old)
		}
	case m.GetDeletionTimestamp() != nil && old.GetDeletionTimestamp() == nil && m.GetDeletionGracePeriodSeconds() != nil: // an eviction
		at := metav1.NewTime(s.now().Add(time.Duration(*m.GetDeletionGracePeriodSeconds()) * time.Second))
		m.SetDeletionTimestamp(&at)
	}
	if pod, ok := obj.(*api.Pod); ok && (s.write.Subresource == "binding" || s.write.Subresource == "eviction" || s.kind.resource.Plural == "bindings") {
		if p, ok := was.(*api.Pod); ok {
			s.restampConditions(pod.Status.Conditions, p.Status.Conditions)
		}
	}
	s.restampTransitions(obj, was)
}

// restampDeletion does what rest.BeforeDelete and the storage do with the clock. A namespace's sets no grace period.
func (s *session) restampDeletion(m, old metav1.Object) {
	if m.GetDeletionTimestamp() == nil {
		return
	}
	now, grace := s.now(), ptr.Deref(m.GetDeletionGracePeriodSeconds(), 0)
	at := metav1.NewTime(now.Add(time.Duration(grace) * time.Second))
	before, oldGrace := old.GetDeletionTimestamp(), old.GetDeletionGracePeriodSeconds()
	switch {
	case before == nil:
	case oldGrace == nil || *oldGrace == 0 || *s.deleting >= *oldGrace: // nothing is shortened
		at = *before
	default: // only a shorter period may be asked for, and not one that has passed
		asked := *s.deleting
		at = metav1.NewTime(before.Add(time.Duration(asked-*oldGrace) * time.Second))
		if at.Before(&now) {
			at = now
			asked = min(asked, 1)
		}
		m.SetDeletionGracePeriodSeconds(&asked)
	}
	m.SetDeletionTimestamp(&at)
}

// restampConditions sets the time of conditions that have changed.
func (s *session) restampConditions(now, was []api.PodCondition) {
	for i := range now {
		same := false
		for _, c := range was {
			same = same || c.Type == now[i].Type && c.LastTransitionTime.Equal(&now[i].LastTransitionTime)
		}
		if !same {
			now[i].LastTransitionTime = s.now()
		}
	}
}

// identified is a strategy that has the uid of an object when it prepares it: a Job's labels have it, too.
type identified struct{ rest.RESTCreateStrategy }

// PrepareForCreate implements rest.RESTCreateStrategy.
func (i identified) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	if s := sessionOf(ctx); s != nil {
		s.stamp(obj)
	}
	i.RESTCreateStrategy.PrepareForCreate(ctx, obj)
}

// identifiedDeclared is one whose kind is validated by declarations, too.
type identifiedDeclared struct {
	identified
	rest.DeclarativeValidationStrategy
}

func identify(s rest.RESTCreateStrategy) rest.RESTCreateStrategy {
	if d, ok := s.(rest.DeclarativeValidationStrategy); ok {
		return identifiedDeclared{identified{s}, d}
	}
	return identified{s}
}

// stampDry replaces, in place, what a dry run shows of random numbers and the clock.
func (s *session) stampDry(obj runtime.Object) {
	if s.write.Live == nil {
		s.stamp(obj)
		return
	}
	if was, err := internal(s.write.Live); err == nil {
		s.restamp(obj, was)
	}
}
