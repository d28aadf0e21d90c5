package persistence

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// layout is the version of the file's layout. Newer files are rejected.
const layout = 1

// The buckets of the file: metadata and state.
var (
	metaBucket  = []byte("informersim")
	stateBucket = []byte("state")
	layoutKey   = []byte("layout")
)

// lockTimeout is how long Open waits for a file that another process has open; a stopping process releases it.
const lockTimeout = 2 * time.Second

// File is a KV in a file.
type File struct {
	path string
	db   *bolt.DB
}

var _ KV = (*File)(nil)

// Open opens or creates a file, and returns its content. It fails, and leaves the file alone, if another process has the file open,
// or if it is damaged, of a newer layout, or of another program.
func Open(path string) (*File, *State, error) {
	state := &State{}
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		if !info.Mode().IsRegular() {
			return nil, nil, fmt.Errorf("%s is not a regular file", path)
		}
		if state, err = inspect(path); err != nil {
			return nil, nil, err
		}
	}
	db, err := open(path, false)
	if err != nil {
		return nil, nil, err
	}
	f := &File{path, db}
	if err := db.Update(func(tx *bolt.Tx) error {
		meta, err := tx.CreateBucketIfNotExists(metaBucket)
		if err != nil {
			return err
		}
		if err := meta.Put(layoutKey, []byte(strconv.Itoa(layout))); err != nil {
			return err
		}
		_, err = tx.CreateBucketIfNotExists(stateBucket)
		return err
	}); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	return f, state, nil
}

// inspect reads a whole file without writing to it.
func inspect(path string) (state *State, err error) {
	db, err := open(path, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	err = guard(path, func() error {
		return db.View(func(tx *bolt.Tx) error {
			if tx.Size() > info.Size() {
				return damaged(path, fmt.Errorf("it has %d bytes, want %d", info.Size(), tx.Size()))
			}
			if err := checkLayout(path, tx); err != nil {
				return err
			}
			state, err = readState(path, tx)
			return err
		})
	})
	return state, err
}

func checkLayout(path string, tx *bolt.Tx) error {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		if k, _ := tx.Cursor().First(); k == nil {
			return nil // created, and never written to
		}
		return fmt.Errorf("%s was written by another program: use a file of this server, or a new one", path)
	}
	have, err := strconv.Atoi(string(meta.Get(layoutKey)))
	switch {
	case err != nil:
		return damaged(path, fmt.Errorf("its layout is %q", meta.Get(layoutKey)))
	case have > layout:
		return fmt.Errorf("%s was written by a newer version of this program: it has layout %d, the newest known is %d", path, have, layout)
	}
	return nil
}

func readState(path string, tx *bolt.Tx) (*State, error) {
	state := &State{}
	bucket := tx.Bucket(stateBucket)
	if bucket == nil {
		return state, nil
	}
	if err := bucket.ForEach(state.take); err != nil {
		return nil, damaged(path, err)
	}
	return state, state.finish()
}

// open opens a bbolt file. It checks first whether it may write, so that a failure leaves nothing behind.
func open(path string, readOnly bool) (db *bolt.DB, err error) {
	err = guard(path, func() error {
		db, err = bolt.Open(path, 0o600, &bolt.Options{
			ReadOnly: readOnly, Timeout: lockTimeout, NoFreelistSync: true, FreelistType: bolt.FreelistMapType,
		})
		return err
	})
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%s is open in another process: stop that one, or use another file", path)
	case errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrVersionMismatch) || errors.Is(err, bolterrors.ErrChecksum):
		return nil, fmt.Errorf("%s was not written by this server, or is damaged (%w): use another file, or a new one", path, err)
	}
	var file *os.PathError
	if errors.As(err, &file) {
		return nil, err // it names the file and the system's error
	}
	return nil, damaged(path, err)
}

// guard turns bbolt's panics on corrupt or unreadable pages into errors.
func guard(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = damaged(path, fmt.Errorf("%v", p))
		}
	}()
	return f()
}

func damaged(path string, err error) error {
	return fmt.Errorf("%s is damaged: %w; it was not changed: restore a backup, or use another file", path, err)
}

// Load implements KV.
func (f *File) Load(visit func(key, value []byte) error) error {
	return f.db.View(func(tx *bolt.Tx) error { return tx.Bucket(stateBucket).ForEach(visit) })
}

// Save implements KV. It returns once the changes are on disk.
func (f *File) Save(changes []Change) error {
	return f.db.Update(func(tx *bolt.Tx) error {
		bucket := tx.Bucket(stateBucket)
		for _, c := range changes {
			var err error
			if c.Value == nil {
				err = bucket.Delete(c.Key)
			} else {
				err = bucket.Put(c.Key, bytes.Clone(c.Value))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Close releases the file.
func (f *File) Close() error { return f.db.Close() }
