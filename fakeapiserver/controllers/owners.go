package controllers

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OwnerState is the state of the owner that an ownerReference names.
type OwnerState uint8

// The states of owners.
const (
	Solid   OwnerState = iota // the owner exists
	Absent                    // it does not exist: not with that name, that UID, and in the dependent's namespace
	Waiting                   // it is in foreground deletion
	Unknown                   // its kind is not served, or it cannot own this object
)

// RetryUnknown is when an object is looked at again of whose owner the kind is not served.
const RetryUnknown = 30 * time.Second

// OwnersVerdict is what a garbage collector does with an object because of its owners: at most one of these.
type OwnersVerdict struct {
	Again  bool                       // look once more, later
	Left   []metav1.OwnerReference    // the owners that it keeps, if it loses some; nil if it does not
	Delete metav1.DeletionPropagation // it is deleted, in this way; "" if it is not
}

// JudgeOwners says what becomes of an object: it is deleted if its owners are all gone or going; if some exist, it only loses the others. Where an owner's
// kind is not known, nothing happens (attemptToDeleteItem of kube-controller-manager's garbage collector).
func JudgeOwners(m metav1.Object, state func(metav1.OwnerReference) OwnerState, hasDependents func() bool) OwnersVerdict {
	var left []metav1.OwnerReference
	count := [Unknown + 1]int{}
	for _, ref := range m.GetOwnerReferences() {
		s := state(ref)
		if count[s]++; s == Solid {
			left = append(left, ref)
		}
	}
	switch {
	case count[Unknown] > 0:
		return OwnersVerdict{Again: true}
	case count[Solid] > 0 && count[Absent]+count[Waiting] == 0, len(m.GetOwnerReferences()) == 0:
		return OwnersVerdict{}
	case count[Solid] > 0:
		return OwnersVerdict{Left: left}
	case count[Waiting] > 0 && hasDependents():
		return OwnersVerdict{Delete: metav1.DeletePropagationForeground}
	}
	return OwnersVerdict{Delete: policyOf(m)}
}

// policyOf returns the deletion policy when none is requested: the object's finalizers may set it.
func policyOf(m metav1.Object) metav1.DeletionPropagation {
	switch {
	case slices.Contains(m.GetFinalizers(), metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case slices.Contains(m.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}
