package persistence

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// Recorder writes a cluster's changes to a KV. It is the journal of the cluster's Store: a change that the KV cannot take is not
// made, so that nobody ever sees it.
type Recorder struct {
	cluster *fakeapiserver.Cluster
	kv      KV
	dirty   bool  // there are writes that Sync has not made durable
	failed  error // of Sync
}

// Record starts recording a cluster's changes.
func Record(c *fakeapiserver.Cluster, kv KV) *Recorder {
	r := &Recorder{cluster: c, kv: kv}
	c.Store().SetJournal(r)
	return r
}

// Write implements store.Journal.
func (r *Recorder) Write(id store.ResourceID, key string, rev int64, obj runtime.Object) error {
	r.tidy()
	resource := r.cluster.Store().Resource(id)
	change := Change{Revision: rev, Key: objectKey(resource, key)}
	if obj != nil {
		var err error
		if change.Value, err = encode(resource, rev, obj); err != nil {
			return &store.RefusedError{Err: fmt.Errorf("--data: %s %s cannot be encoded: %w", resource.GroupResource(), key, err)}
		}
	}
	err := r.kv.Write(change)
	if err != nil && r.tidy() {
		err = r.kv.Write(change)
	}
	r.dirty = r.dirty || err == nil
	return err
}

// Restore implements store.Journal: the KV gets the state at rev.
func (r *Recorder) Restore(rev, now int64) error { return r.rewrite(rev, now) }

// Check returns why a write would be refused now, nil if it would not.
func (r *Recorder) Check() error {
	err := r.kv.Check()
	if err != nil && r.tidy() {
		err = r.kv.Check()
	}
	return err
}

// tidy rewrites the KV if it wants that, and reports whether it did. Where that fails, the next write is refused, or the KV just
// stays longer than need be.
func (r *Recorder) tidy() bool {
	now := r.cluster.Store().Revision()
	return r.kv.WantsRewrite() && r.rewrite(now, now) == nil
}

func (r *Recorder) rewrite(rev, now int64) error {
	return r.kv.Rewrite(func(add func(Change) error) error { return snapshot(r.cluster.Store(), rev, now, add) })
}

// Sync makes the changes since the last one durable. If it fails, none of them may become visible, and nothing can take them back:
// the kernel's run ends, and every later Sync fails.
func (r *Recorder) Sync() error {
	if r.failed != nil || !r.dirty {
		return r.failed
	}
	if err := r.kv.Sync(); err != nil {
		r.failed = err
		r.cluster.Kernel().Fail(err)
		return err
	}
	r.dirty = false
	return nil
}
