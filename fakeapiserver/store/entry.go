package store

// Entry is a key: its name and its newest version.
type Entry struct {
	display string // "<plural> <key>", as in records
	key     string // "namespace/name" or "name": the tail of display, sharing its bytes
	newest  *Version
}

// Key returns "namespace/name", or "name".
func (e *Entry) Key() string { return e.key }

// Display returns "<plural> <key>", the key's name in records.
func (e *Entry) Display() string { return e.display }

// Live returns the newest state; nil if the key does not exist, or e is nil.
func (e *Entry) Live() *Version {
	if e == nil || e.newest == nil || e.newest.deleted {
		return nil
	}
	return e.newest
}

// In reports whether the key lies in a namespace.
func (e *Entry) In(namespace string) bool {
	n := len(namespace)
	return len(e.key) > n && e.key[n] == '/' && e.key[:n] == namespace
}

// at returns the key's state at a revision; nil if it did not exist then.
func (e *Entry) at(rev int64) *Version {
	v := e.newest
	for v != nil && v.rev > rev {
		v = v.prev
	}
	if v == nil || v.deleted {
		return nil
	}
	return v
}
