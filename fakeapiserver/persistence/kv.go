package persistence

// KV is an embedded key-value store.
type KV interface {
	// Write adds a change. If it fails, with a *store.RefusedError, nothing of the change is kept.
	Write(c Change) error
	// Sync makes what was written durable. After an error it is unknown what is.
	Sync() error
	// Rewrite replaces everything, durably, by what content adds. If it fails, with a *store.RefusedError, nothing has changed.
	Rewrite(content func(add func(Change) error) error) error
	// WantsRewrite reports whether a Rewrite with the same content would help: to save space, or to fill a new file.
	WantsRewrite() bool
	// Check returns why a write would be refused now, nil if it would not.
	Check() error
	Close() error
}

// Change sets a key at a revision, or removes it if Value is nil. Without a key it only raises the revision.
type Change struct {
	Revision   int64
	Key, Value []byte
}
