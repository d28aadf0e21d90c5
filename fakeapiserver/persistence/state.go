package persistence

import (
	"encoding/json"
	"fmt"
	"sort"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// State is the content of a file. The zero value is a new file's.
type State struct {
	revision int64
	objects  []saved
}

// saved is an object in the file.
type saved struct {
	gr  schema.GroupResource
	key string // namespace/name, or name
	stored
}

// take adds a pair.
func (s *State) take(c Change) error {
	gr, name, ok := parseKey(string(c.Key))
	if !ok {
		return fmt.Errorf("it has an unknown key %q", c.Key)
	}
	o := saved{gr: gr, key: name}
	if err := json.Unmarshal(c.Value, &o.stored); err != nil {
		return fmt.Errorf("%s %s: %w", gr, name, err)
	}
	if o.Revision != c.Revision {
		return fmt.Errorf("%s %s has revision %d, but was written at %d", gr, name, o.Revision, c.Revision)
	}
	s.objects = append(s.objects, o)
	return nil
}

// finish sorts the objects by revision, and checks that revisions are distinct and in range.
func (s *State) finish() error {
	sort.Slice(s.objects, func(i, j int) bool { return s.objects[i].Revision < s.objects[j].Revision })
	last := int64(0)
	for _, o := range s.objects {
		if o.Revision <= last {
			return fmt.Errorf("%s %s has revision %d, want one after %d", o.gr, o.key, o.Revision, last)
		}
		last = o.Revision
	}
	s.revision = max(s.revision, last)
	return nil
}

// Revision returns the revision of the last write; 0 if there was none.
func (s *State) Revision() int64 { return s.revision }

// Len returns the number of objects.
func (s *State) Len() int { return len(s.objects) }

// Objects returns a resource's objects as JSON, in the order in which they were last written.
func (s *State) Objects(gr schema.GroupResource) []json.RawMessage {
	var all []json.RawMessage
	for _, o := range s.objects {
		if o.gr == gr {
			all = append(all, o.Object)
		}
	}
	return all
}
