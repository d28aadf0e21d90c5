package world

import (
	"net/http"
	"strings"
	"time"
)

// hit is an object that a deletion has hit, as it was then.
type hit struct {
	key string
	obj any
}

// remakeHit makes once more what a deletion has hit that was not meant for it, as it seems, and restarts all controllers, for the property NoBlindDelete: who does not want it deletes it again.
func (b *wellBehaved) remakeHit() {
	if len(b.hits) == 0 || b.over() || !b.w.config.restarts || !b.crashable() {
		return
	}
	b.conclude(probeHits)
	b.probing = true
	b.w.stopFaults()
	for _, h := range b.hits {
		plural, object, _ := strings.Cut(h.key, " ")
		p := probed{resource: plural}
		p.namespace, p.name = placeOf(object)
		for _, r := range b.resources(plural) {
			if path := resourcePath(r.GroupVersionResource(), r.Namespaced, p.namespace); b.object(p) == nil {
				body := manifest(h.obj, r.GroupVersionKind())
				b.w.kernel.Clock().AfterFunc(time.Millisecond, func() { b.serve(http.MethodPost, path, "application/json", body) })
			}
		}
	}
	b.w.goOn(b.rest()) // who looks once in an hour does so in the run that is made once more
	b.listAnew()
	b.restartAll()
}
