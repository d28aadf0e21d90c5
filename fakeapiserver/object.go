package fakeapiserver

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// objectMeta is the object's metadata.
func objectMeta(obj runtime.Object) (metav1.Object, error) {
	if obj == nil {
		return nil, fmt.Errorf("fakeapiserver: the object is nil")
	}
	if dataOf(obj) == nil {
		return nil, fmt.Errorf("fakeapiserver: the object is a nil %T", obj)
	}
	if a, ok := obj.(metav1.ObjectMetaAccessor); ok {
		// The metadata itself: its methods are reached with one call less than through the object.
		if m := a.GetObjectMeta(); m != nil {
			return m, nil
		}
	}
	if m, ok := obj.(metav1.Object); ok {
		return m, nil
	}
	return nil, fmt.Errorf("fakeapiserver: %T has no object metadata", obj)
}

// dataOf is where an object is: nil if it is a nil pointer.
func dataOf(obj runtime.Object) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&obj))[1] }

// shallowCopy copies an object so far that its metadata can be stamped anew; everything below is shared.
func shallowCopy(obj runtime.Object) runtime.Object {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		c := &unstructured.Unstructured{Object: maps.Clone(u.Object)}
		if m, ok := u.Object["metadata"].(map[string]any); ok {
			c.Object["metadata"] = maps.Clone(m)
		}
		return c
	}
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return obj.DeepCopyObject()
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	return c.Interface().(runtime.Object)
}

// withRevision is a shallow copy that carries another resourceVersion.
func (p *revisionPrinter) withRevision(obj runtime.Object, rev int64) runtime.Object {
	c := shallowCopy(obj)
	if m, ok := c.(metav1.Object); ok {
		m.SetResourceVersion(p.print(rev))
	}
	return c
}

// revisionPrinter prints revisions into shared chunks of memory: one allocation for some thirty strings. A chunk is small,
// because a single string keeps the whole of it alive.
type revisionPrinter struct {
	chunk []byte
	last  []byte // what was printed last
	rev   int64  // what that was
}

const revisionChunk = 256

func (p *revisionPrinter) print(rev int64) string {
	if cap(p.chunk)-len(p.chunk) < 20 {
		p.chunk = make([]byte, 0, revisionChunk)
	}
	n := len(p.chunk)
	if rev == p.rev+1 && len(p.last) > 0 && p.last[len(p.last)-1] < '9' {
		p.chunk = append(p.chunk, p.last...)
		p.chunk[len(p.chunk)-1]++
	} else {
		p.chunk = strconv.AppendInt(p.chunk, rev, 10)
	}
	s := p.chunk[n:]
	p.last, p.rev = s, rev
	// The bytes are never written again: the chunk is only appended to, within its capacity.
	return unsafe.String(unsafe.SliceData(s), len(s))
}

// seededUID is the uid of the object that is created at rev in the run with that seed: the same one in a replay.
func seededUID(seed uint64, rev int64) types.UID {
	var in [16]byte
	binary.LittleEndian.PutUint64(in[:8], seed)
	binary.LittleEndian.PutUint64(in[8:], uint64(rev))
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], xxhash.Sum64(in[:]))
	in[0] ^= 0xff
	binary.BigEndian.PutUint64(raw[8:], xxhash.Sum64(in[:]))
	raw[6] = raw[6]&0x0f | 0x40 // version 4
	raw[8] = raw[8]&0x3f | 0x80 // variant of RFC 9562
	var text [36]byte
	hex.Encode(text[0:8], raw[0:4])
	hex.Encode(text[9:13], raw[4:6])
	hex.Encode(text[14:18], raw[6:8])
	hex.Encode(text[19:23], raw[8:10])
	hex.Encode(text[24:36], raw[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return types.UID(text[:])
}

// Mint is a uid for an object that is about to be created, and length characters of an alphabet for its generated name. They
// follow from the seed and the revision, and from how often they were asked for at it.
func (s *Store) Mint(alphabet string, length int) (types.UID, string) {
	if s.mintedAt != s.revision {
		s.mintedAt, s.minted = s.revision, 0
	}
	s.minted++
	uid := seededUID(s.seed^s.minted<<40, s.revision+1)
	n := xxhash.Sum64String(string(uid))
	suffix := make([]byte, length)
	for i := range suffix {
		suffix[i] = alphabet[n%uint64(len(alphabet))]
		n /= uint64(len(alphabet))
	}
	return uid, string(suffix)
}
