package persistence

// KV is an embedded key-value store.
type KV interface {
	// Load visits all pairs. The slices are valid only during the call.
	Load(visit func(key, value []byte) error) error
	// Save makes all changes durable, or none.
	Save(changes []Change) error
	Close() error
}

// Change sets a key, or removes it if Value is nil.
type Change struct{ Key, Value []byte }
