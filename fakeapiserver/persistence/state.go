package persistence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"

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
func (s *State) take(key, value []byte) error {
	if string(key) == revisionKey {
		rev, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || rev < 0 {
			return fmt.Errorf("its revision is %q, which is not a number", value)
		}
		s.revision = rev
		return nil
	}
	gr, name, ok := parseKey(string(key))
	if !ok {
		return fmt.Errorf("it has an unknown key %q", key)
	}
	o := saved{gr: gr, key: name}
	if err := json.Unmarshal(bytes.Clone(value), &o.stored); err != nil {
		return fmt.Errorf("%s %s: %w", gr, name, err)
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
