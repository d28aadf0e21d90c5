package render

import (
	"bytes"
	"encoding/binary"
)

// protobufMagic begins every object in protobuf. A runtime.Unknown follows: the kind, the bytes of the object, and two empty
// strings.
var protobufMagic = []byte("k8s\x00")

// The tags of a runtime.Unknown's fields, and its end after the object.
const (
	kindTag = 0x0a
	rawTag  = 0x12
)

var unknownEnd = []byte{0x1a, 0, 0x22, 0}

// unknown locates the parts of an encoded object.
type unknown struct {
	rawTag      int // the tag of the object's bytes; their length follows
	raw, rawEnd int // the object's bytes
}

// parseUnknown parses an object in protobuf; ok is false if it does not have the serializer's layout.
func parseUnknown(data []byte) (u unknown, ok bool) {
	if !bytes.HasPrefix(data, protobufMagic) {
		return u, false
	}
	_, at, ok := field(data, len(protobufMagic), kindTag)
	if !ok {
		return u, false
	}
	u.rawTag = at
	if u.raw, u.rawEnd, ok = field(data, at, rawTag); !ok {
		return u, false
	}
	return u, bytes.Equal(data[u.rawEnd:], unknownEnd)
}

// field finds the content of the field at an offset.
func field(data []byte, at int, tag byte) (from, to int, ok bool) {
	if at >= len(data) || data[at] != tag {
		return 0, 0, false
	}
	size, n := binary.Uvarint(data[at+1:])
	from = at + 1 + n
	if n <= 0 || size > uint64(len(data)-from) {
		return 0, 0, false
	}
	return from, from + int(size), true
}
