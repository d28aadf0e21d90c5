package store

import (
	"fmt"
	"math"
)

// Compact makes every revision before rev unreadable; rev itself stays readable (S11). Versions that watch caches still hold
// are freed later.
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

// Trim frees the versions that neither the Store nor a watch cache can serve any more.
func (s *Store) Trim(id ResourceID) {
	floor := s.compacted
	if s.floor != nil {
		floor = min(floor, s.floor(id))
	}
	s.timelines[id].Trim(floor)
}

// Restore resets the Store to its state at an older revision, as restoring a snapshot of etcd does. Later writes are lost, and
// new writes reuse their revisions (k107457), unless bump is positive: it is added to the revision and everything before is
// marked compacted, as by `etcdutl snapshot restore --bump-revision --mark-compacted`.
//
// The restored history is a new one: views of the old one are not affected. Restore also fails if the journal refuses it.
func (s *Store) Restore(rev, bump int64) error {
	switch {
	case rev > s.revision:
		return fmt.Errorf("fakeapiserver: cannot restore to %d: the store is at %d", rev, s.revision)
	case rev < s.compacted:
		return fmt.Errorf("fakeapiserver: cannot restore to %d: revisions before %d are compacted", rev, s.compacted)
	case bump < 0:
		return fmt.Errorf("fakeapiserver: cannot bump the revision by %d: it must not be negative", bump)
	case bump > math.MaxInt64/2-rev: // so that a revision never overflows, however often it is bumped
		return fmt.Errorf("fakeapiserver: cannot bump the revision by %d: too large", bump)
	}
	if s.journal != nil {
		if err := s.journal.Restore(rev, rev+bump); err != nil {
			return err
		}
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
