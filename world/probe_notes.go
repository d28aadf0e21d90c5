package world

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/world/wellbehaved"
)

// notes puts something into the metadata of objects that controllers have changed, has them look at everything, and undoes their changes where that is still there, for the property NoLostAnnotation. A label it puts only
// where a controller has made the object: those of the test's objects are often passed on.
func (b *wellBehaved) notes() {
	if b.over() || !b.asked(wellbehaved.NameAnnotation) {
		return
	}
	all := slices.DeleteFunc(slices.Concat(b.undoable(false), b.undoable(true)), func(u undoing) bool { return u.ofStatus() })
	if len(all) == 0 {
		return
	}
	b.w.stopFaults()
	for _, u := range all {
		b.noteSoon(u, "of somebody else")
	}
	b.w.goOn(probeTime)
	if b.over() {
		return
	}
	b.listAnew()
	if b.over() {
		return
	}
	for _, u := range all {
		if b.hasNote(u) {
			u.patch = u.sparing()
			b.undoSoon([]undoing{u})
		}
	}
	b.w.goOn(probeTime)
	if b.over() {
		return
	}
	for _, u := range all {
		if b.hasNote(u) {
			b.noteSoon(u, nil)
		}
	}
	b.w.goOn(probeTime)
}

// noteSoon puts a note into an object's metadata, or takes it away if the value is nil.
func (b *wellBehaved) noteSoon(u undoing, value any) {
	note := map[string]any{wellbehaved.Note: value}
	fields := map[string]any{"annotations": note}
	if slices.ContainsFunc(b.made, func(x making) bool { return x.uid == u.uid }) {
		fields["labels"] = map[string]any{wellbehaved.Note: value}
		if value != nil {
			fields["labels"] = map[string]any{wellbehaved.Note: "somebody"}
		}
	}
	patch, err := json.Marshal(map[string]any{"metadata": fields})
	if err != nil {
		b.w.kernel.Fail(err)
		return
	}
	b.w.kernel.Clock().AfterFunc(2*time.Millisecond, func() {
		b.serve(http.MethodPatch, u.path, "application/merge-patch+json", patch)
	})
}

// hasNote reports whether an object is still the one that was written, and has a note.
func (b *wellBehaved) hasNote(u undoing) bool {
	obj, is := b.find(u)
	if !is {
		return false
	}
	m := obj.(metav1.Object)
	return m.GetAnnotations()[wellbehaved.Note] != "" || m.GetLabels()[wellbehaved.Note] != ""
}

// sparing returns the patch that undoes a change without taking away all labels, or all annotations, where there were none before it.
func (u undoing) sparing() []byte {
	var fields map[string]any
	if json.Unmarshal(u.patch, &fields) != nil {
		return u.patch
	}
	meta, is := fields["metadata"].(map[string]any)
	m, isObject := u.obj.(metav1.Object)
	if !is || !isObject {
		return u.patch
	}
	for name, had := range map[string]map[string]string{"labels": m.GetLabels(), "annotations": m.GetAnnotations()} { // order: each by itself
		if all, there := meta[name]; !there || all != nil {
			continue
		}
		each := map[string]any{}
		for key := range had { // order: a map
			each[key] = nil
		}
		meta[name] = each
	}
	patch, err := json.Marshal(fields)
	if err != nil {
		return u.patch
	}
	return patch
}
