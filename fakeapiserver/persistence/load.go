package persistence

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// Load puts a file's state into a cluster inside a step of its kernel. The cluster's Store must be empty and have the resources.
// Objects keep their resourceVersions. If the file has anything unreadable, Load fails before it writes. Watch caches start empty.
func Load(c *fakeapiserver.Cluster, state *State) error {
	if state.revision == 0 {
		return nil
	}
	objects, ids, err := decodeAll(c, state)
	if err != nil {
		return err
	}
	s := c.Store()
	if first := firstRevision(state); first <= s.Revision() {
		return fmt.Errorf("the file begins at revision %d, but the store is already at %d: load into an empty store that starts at a lower revision", first, s.Revision())
	}
	for i, o := range state.objects {
		if err := c.SkipTo(o.Revision); err != nil {
			return err
		}
		if _, err := c.Create(ids[i], objects[i]); err != nil {
			return fmt.Errorf("%s %s: %w", o.gr, o.key, err)
		}
	}
	if state.revision > s.Revision() {
		if err := c.SkipTo(state.revision + 1); err != nil {
			return err
		}
	}
	// Earlier history is unknown, so it must not be requested.
	if s.Revision() > s.Compacted() {
		if err := c.CompactStore(0); err != nil {
			return err
		}
	}
	for i := range c.Replicas() {
		c.Replica(i).Restart()
	}
	return nil
}

// firstRevision returns the revision of the first write that rebuilds a state.
func firstRevision(state *State) int64 {
	if len(state.objects) > 0 {
		return state.objects[0].Revision
	}
	return state.revision + 1
}

// decodeAll decodes all objects, with their resources. A resource that has objects but is not served is added to the Store: its
// definition was deleted and left them behind, and finds them if it is created again.
func decodeAll(c *fakeapiserver.Cluster, state *State) (objects []runtime.Object, ids []store.ResourceID, err error) {
	for _, o := range state.objects {
		id, ok := c.FindResource(o.gr)
		if !ok {
			if id, err = c.AddResource(o.resource()); err != nil {
				return nil, nil, fmt.Errorf("%s %s: %w", o.gr, o.key, err)
			}
		}
		obj, err := decode(c.Store().Resource(id), o.stored)
		if err != nil {
			return nil, nil, fmt.Errorf("%s %s: %w", o.gr, o.key, err)
		}
		if rev, err := revisionOf(obj); err != nil || rev != o.Revision {
			return nil, nil, fmt.Errorf("%s %s: it was saved at revision %d, but its resourceVersion differs", o.gr, o.key, o.Revision)
		}
		objects, ids = append(objects, obj), append(ids, id)
	}
	return objects, ids, nil
}

// resource describes an object's resource from its kind.
func (o *saved) resource() store.Resource {
	var head metav1.TypeMeta
	_ = json.Unmarshal(o.Object, &head) // a resource without a kind is rejected later
	return store.Resource{
		Group: o.gr.Group, Version: o.Version, Plural: o.gr.Resource, Kind: head.Kind, Namespaced: strings.Contains(o.key, "/"),
	}
}

// snapshot adds the state of a Store at rev to an empty KV, as the state at revision now.
func snapshot(s *store.Store, rev, now int64, add func(Change) error) error {
	for id := store.ResourceID(0); s.Resource(id) != nil; id++ {
		r := s.Resource(id)
		var failed error
		if err := s.Walk(id, rev, "", func(key string, obj runtime.Object) bool {
			var written int64
			if written, failed = revisionOf(obj); failed != nil {
				return false
			}
			var value []byte
			if value, failed = encode(r, written, obj); failed == nil {
				failed = add(Change{Revision: written, Key: objectKey(r, key), Value: value})
			}
			return failed == nil
		}); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
	}
	return add(Change{Revision: now})
}
