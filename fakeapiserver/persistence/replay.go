package persistence

import (
	"cmp"
	"slices"
)

// replay collects the state that a log leads to.
type replay struct {
	pairs    map[string]Change
	revision int64
	size     int64 // of the pairs, in bytes
}

func (r *replay) take(c Change) error {
	r.revision = max(r.revision, c.Revision)
	if len(c.Key) == 0 {
		return nil
	}
	if old, ok := r.pairs[string(c.Key)]; ok {
		r.size -= int64(len(old.Key) + len(old.Value))
	}
	if c.Value == nil {
		delete(r.pairs, string(c.Key))
		return nil
	}
	r.size += int64(len(c.Key) + len(c.Value))
	r.pairs[string(c.Key)] = c
	return nil
}

// state decodes the pairs.
func (r *replay) state() (*State, error) {
	all := make([]Change, 0, len(r.pairs))
	for _, c := range r.pairs { // order: sorted below
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), slices.Compare(a.Key, b.Key))
	})
	s := &State{revision: r.revision}
	for _, c := range all {
		if err := s.take(c); err != nil {
			return nil, err
		}
	}
	return s, s.finish()
}
