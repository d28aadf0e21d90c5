package world

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// deletingSeeds says that the runs of one seed in so many delete something when the body has ended.
const deletingSeeds = 4

// noteDeletion notes of which resources the test has deleted something.
func (b *wellBehaved) noteDeletion(r *sim.Record) {
	m, is := r.Obj.(metav1.Object)
	cl, _ := b.w.cluster.Serving()
	if !is || cl == nil || b.after || b.role(cl.Actor()) != wellbehaved.Outside || r.Detail != "DELETED" && m.GetDeletionTimestamp() == nil {
		return
	}
	if plural, _, _ := strings.Cut(r.Key, " "); !slices.Contains(b.deletes, plural) {
		b.deletes = append(b.deletes, strings.Clone(plural))
	}
}

// deleteAtEnd deletes, after the body, an object of each resource of which the test has made some and deleted none, if controllers have done something about it: many tests never delete, and what a controller does
// about an end is where it goes wrong. All properties judge what comes of it, as if the body had done so. What another object of the test's names is spared: it may be what that needs.
func (b *wellBehaved) deleteAtEnd() {
	if b.w.seed%deletingSeeds != deletingSeeds/2 || b.over() {
		return
	}
	done := slices.Clone(b.deletes)
	for _, x := range slices.Backward(b.theirs) {
		if slices.Contains(done, x.resource) || !b.cleans(x) || !b.minded(x) || len(b.usersOf([]string{x.key()})) > 0 {
			continue
		}
		done = append(done, x.resource)
		path, _ := b.place(x.probed)
		b.w.kernel.Clock().AfterFunc(time.Millisecond, func() {
			b.serve(http.MethodDelete, path+"/"+x.name, "application/json", deleteOptions(x.uid, ""))
		})
		b.deleted = append(b.deleted, x.key())
	}
	if len(b.deleted) > 0 {
		b.w.goOn(time.Second)
	}
}

// minded reports whether a controller has written an object, or made another one for it: by an owner reference, its name, or a label.
func (b *wellBehaved) minded(x belonging) bool {
	for p := range b.undos { // order: whether there is one
		if p.resource == x.resource && p.namespace == x.namespace && p.name == x.name {
			return true
		}
	}
	return slices.ContainsFunc(b.made, func(y making) bool {
		m := b.object(y.probed)
		if m == nil || m.GetUID() != y.uid {
			return false
		}
		owned := slices.ContainsFunc(m.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == x.uid })
		labelled := false
		for _, value := range m.GetLabels() { // order: whether there is one
			labelled = labelled || value == x.name
		}
		return owned || labelled || strings.HasPrefix(y.name, x.name)
	})
}

// deletedAtEnd says what was deleted, and why.
func (b *wellBehaved) deletedAtEnd() (all []string) {
	for _, key := range b.deleted {
		all = append(all, fmt.Sprintf("%s: the test deletes no %s by itself, and a controller has done something about this one", key, strings.SplitN(key, " ", 2)[0]))
	}
	return all
}
