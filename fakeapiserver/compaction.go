package fakeapiserver

import "fmt"

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
		s.trim(ResourceID(id))
	}
	return nil
}

// trim gives back the memory of what neither the Store nor a watch cache can be asked for any more.
func (s *Store) trim(id ResourceID) {
	floor := s.compacted
	if s.floor != nil {
		floor = min(floor, s.floor(id))
	}
	s.timelines[id].trim(floor)
}
