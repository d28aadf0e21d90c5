package store

import (
	"fmt"
	"math"
)

// Compact forgets every version before rev; rev itself stays readable (S11). It says what can be read. When memory is given
// back is another matter: watch caches go on serving what they hold.
func (s *Store) Compact(rev int64) error {
	switch {
	case rev > s.revision:
		return fmt.Errorf("fakeapiserver: cannot compact to %d: the store is at %d", rev, s.revision)
	case rev <= s.compacted:
		return fmt.Errorf("fakeapiserver: cannot compact to %d: revisions before %d are compacted already", rev, s.compacted)
	}
	s.compacted = rev
	for id := range s.timelines {
		s.Trim(ResourceID(id))
	}
	return nil
}

// Trim gives back the memory of what neither the Store nor a watch cache can be asked for any more.
func (s *Store) Trim(id ResourceID) {
	floor := s.compacted
	if s.floor != nil {
		floor = min(floor, s.floor(id))
	}
	s.timelines[id].Trim(floor)
}

// Restore puts the Store back to how it was at an older revision, as restoring a snapshot of etcd does. What was written
// since is gone, and the numbers of those revisions are used again by other writes (k107457), unless bump raises the
// revision by so much and marks everything before as compacted, as `etcdutl snapshot restore --bump-revision
// --mark-compacted` does.
//
// The restored history is a new one: views of the old one are not disturbed.
func (s *Store) Restore(rev, bump int64) error {
	switch {
	case rev > s.revision:
		return fmt.Errorf("fakeapiserver: cannot restore to %d: the store is at %d", rev, s.revision)
	case rev < s.compacted:
		return fmt.Errorf("fakeapiserver: cannot restore to %d: revisions before %d are compacted", rev, s.compacted)
	case bump < 0:
		return fmt.Errorf("fakeapiserver: cannot bump the revision by %d: it must not be negative", bump)
	case bump > math.MaxInt64/2:
		return fmt.Errorf("fakeapiserver: cannot bump the revision by %d: too large", bump)
	}
	for i, t := range s.timelines {
		s.timelines[i] = t.Fork(s.compacted, rev)
	}
	s.revision = rev + bump
	if bump > 0 {
		s.compacted = s.revision
		for id := range s.timelines {
			s.timelines[id].Trim(s.compacted)
		}
	}
	return nil
}
