package persistence

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// Recorder saves a cluster's commits.
type Recorder struct {
	cluster *fakeapiserver.Cluster
	kv      KV
	pending []Change
	last    int64 // the revision of the last pending change
	resync  bool  // the Store was restored: the file may have undone writes
	failed  error
}

// Record starts recording a cluster's commits. Sync saves them.
func Record(c *fakeapiserver.Cluster, kv KV) *Recorder {
	r := &Recorder{cluster: c, kv: kv}
	c.OnCommit(r.commit)
	c.OnRestore(func() { r.resync = true })
	return r
}

func (r *Recorder) commit(id store.ResourceID, done store.Committed) {
	resource := r.cluster.Store().Resource(id)
	change := Change{Key: objectKey(resource, done.Key)}
	if !done.Deleted {
		value, err := encode(resource, done.Revision, done.Object)
		if err != nil {
			r.fail(fmt.Errorf("%s at revision %d cannot be encoded: %w", done.Display, done.Revision, err))
			return
		}
		change.Value = value
	}
	r.pending = append(r.pending, change)
	r.last = done.Revision
}

// Sync saves the commits since the last one. If it fails, none of them may become visible: the kernel's run ends, and every later
// Sync fails.
func (r *Recorder) Sync() error {
	switch {
	case r.failed != nil:
		return r.failed
	case r.resync:
		if err := r.saveAll(); err != nil {
			r.fail(fmt.Errorf("saving the restored state: %w", err))
		}
	case len(r.pending) > 0:
		if err := r.kv.Save(append(r.pending, revisionChange(r.last))); err != nil {
			r.fail(fmt.Errorf("saving revision %d: %w", r.last, err))
		}
		clear(r.pending)
		r.pending = r.pending[:0]
	}
	return r.failed
}

func (r *Recorder) fail(err error) {
	r.failed = fmt.Errorf("persistence: %w", err)
	r.cluster.Kernel().Fail(r.failed)
}

// saveAll replaces the file's content with the state of the Store.
func (r *Recorder) saveAll() error {
	state, err := snapshot(r.cluster.Store())
	if err != nil {
		return err
	}
	keep := make(map[string]bool, len(state))
	for _, c := range state {
		keep[string(c.Key)] = true
	}
	if err := r.kv.Load(func(key, _ []byte) error {
		if !keep[string(key)] {
			state = append(state, Change{Key: append([]byte(nil), key...)})
		}
		return nil
	}); err != nil {
		return err
	}
	r.pending, r.resync = nil, false
	return r.kv.Save(state)
}
