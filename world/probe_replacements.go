package world

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// belonging is an object that is none of a controller's: the test has made it.
type belonging struct {
	probed
	uid types.UID
	obj any // as it was made
}

// noteTheirs notes what the test has made.
func (b *wellBehaved) noteTheirs(r *sim.Record) {
	m, is := r.Obj.(metav1.Object)
	cl, _ := b.w.cluster.Serving()
	if !is || cl == nil || r.Detail != "ADDED" || b.probing || wellbehaved.Bookkeeping(r.Key) || b.role(cl.Actor()) != wellbehaved.Outside {
		return
	}
	plural, object, _ := strings.Cut(r.Key, " ")
	b.theirs = append(b.theirs, belonging{probed: b.probedOf(cl.Actor(), plural, object), uid: m.GetUID(), obj: r.Obj})
}

// replaceable returns the last object of each resource that the test has made and nothing holds, some in all. Of what belongs to no namespace those of custom resources are: a cluster does not
// replace its Nodes and Namespaces.
func (b *wellBehaved) replaceable() (all []belonging) {
	for _, x := range slices.Backward(b.theirs) {
		if len(all) == maxProbed {
			break
		}
		m := b.object(x.probed)
		if !removable(m) || m.GetUID() != x.uid || x.namespace == "" && !b.custom(x.resource) ||
			slices.ContainsFunc(all, func(y belonging) bool { return y.resource == x.resource }) {
			continue
		}
		all = append(all, x)
	}
	return all
}

// custom reports whether a plural is that of a custom resource, by its group.
func (b *wellBehaved) custom(plural string) bool {
	for _, r := range b.resources(plural) {
		if group := r.GroupVersionResource().Group; !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") {
			return false
		}
	}
	return true
}

// replacements has somebody delete objects and make them anew, first while controllers watch, then once their watches of them have ended, so that a list tells of the new one, and long after
// restarts them all, for the property NoLostReplacement.
func (b *wellBehaved) replacements() {
	if !b.asked(wellbehaved.NameReplacement) || !b.w.config.restarts || !b.crashable() {
		return
	}
	b.conclude(probeReplacements)
	b.restartAll() // what was left undone before is not to be taken for what an object made anew asks for
	for _, x := range alone(b, b.replaceable()) {
		for _, unseen := range []bool{false, true} {
			m := b.object(x.probed)
			if b.over() || !removable(m) {
				break // a controller holds the new one, or the API refuses it
			}
			b.w.stopFaults()
			if unseen {
				b.inject(b.endOfWatches(x.resource))
			}
			b.replaceSoon(x, m.GetUID())
			b.w.goOn(probeTime)
			if unseen {
				b.w.goOn(b.rest())
				b.restartAll()
			}
		}
	}
}

// replaceSoon deletes an object once watches have ended, and makes it as it was made.
func (b *wellBehaved) replaceSoon(x belonging, uid types.UID) {
	if path, body := b.remaking(x); path != "" {
		b.removeSoon(path+"/"+x.name, uid)
		b.w.kernel.Clock().AfterFunc(3*time.Millisecond, func() { b.serve(http.MethodPost, path, "application/json", body) })
	}
}

// remaking returns the request that makes an object as it was made, "" if it is not there.
func (b *wellBehaved) remaking(x belonging) (path string, body []byte) {
	path, kind := b.place(x.probed)
	if path == "" {
		return "", nil
	}
	return path, manifest(x.obj, kind)
}

// place returns the path of the collection that an object is in, and its kind; "" if it is not there.
func (b *wellBehaved) place(p probed) (path string, kind schema.GroupVersionKind) {
	for id, r := range b.resources(p.resource) {
		if obj, _ := b.w.cluster.Store().Get(id, p.namespace, p.name); obj != nil {
			return resourcePath(r.GroupVersionResource(), r.Namespaced, p.namespace), r.GroupVersionKind()
		}
	}
	return "", kind
}

// manifest returns an object as one would write it: without what the server adds.
func manifest(obj any, of schema.GroupVersionKind) []byte {
	var fields map[string]any
	if json.Unmarshal(asJSON(obj), &fields) != nil {
		return nil
	}
	fields["apiVersion"], fields["kind"] = of.GroupVersion().String(), of.Kind
	delete(fields, "status")
	if meta, is := fields["metadata"].(map[string]any); is {
		for name := range meta { // order: each by itself
			if !slices.Contains([]string{"name", "namespace", "labels", "annotations", "ownerReferences"}, name) {
				delete(meta, name)
			}
		}
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return data
}
