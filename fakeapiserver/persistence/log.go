package persistence

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
)

// The file is a log. It begins with a header: a line of text with the layout's version, the number of bytes that are known to be
// durable, and a checksum. Records follow, each a change, with two checksums: one of its frame, which covers its position, and one
// of its content. Integers are big-endian.
const (
	layout      = 2
	textSize    = 32
	durableAt   = textSize
	headerSize  = textSize + 8 + 4
	frameSize   = 4 + 4 + 4 // length, checksum of the content, checksum of the frame
	textPrefix  = "informersim data, layout "
	maxContent  = 1 << 30
	boltMagicAt = 16
)

// boltMagic marks the files of layout 1.
var boltMagic = []byte{0xed, 0xda, 0x0c, 0xed}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// header returns the header of a log whose first bytes are durable.
func header(durable int64) []byte {
	b := fmt.Appendf(make([]byte, 0, headerSize), "%-*s\n", textSize-1, textPrefix+strconv.Itoa(layout))
	b = binary.BigEndian.AppendUint64(b, uint64(durable))
	return binary.BigEndian.AppendUint32(b, checksum(b))
}

// parseHeader returns how much of a log is durable.
func parseHeader(b []byte) (durable int64, err error) {
	text, isOurs := bytes.CutPrefix(b, []byte(textPrefix))
	switch {
	case len(b) >= boltMagicAt+4 && bytes.Equal(b[boltMagicAt:boltMagicAt+4], boltMagic):
		return 0, errOldLayout
	case !isOurs && (len(b) < headerSize || checksum(b[:headerSize-4]) != binary.BigEndian.Uint32(b[headerSize-4:])):
		return 0, errForeign
	case len(b) < headerSize:
		return 0, damage{at: 0, why: "it ends within its header"}
	case checksum(b[:headerSize-4]) != binary.BigEndian.Uint32(b[headerSize-4:]):
		return 0, damage{at: 0, why: "the checksum of its header is wrong"}
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	version, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	if err != nil {
		return 0, errForeign
	}
	if version != layout {
		return 0, newerLayout(version)
	}
	return int64(binary.BigEndian.Uint64(b[durableAt:])), nil
}

// The reasons not to read a log that are not damage.
var (
	errForeign   = errors.New("it was not written by this server")
	errOldLayout = errors.New("it has layout 1, of an older version of this program")
)

// newerLayout is the error of a layout that this version does not know.
type newerLayout int

func (v newerLayout) Error() string { return fmt.Sprintf("it has layout %d", int(v)) }

// damage is a part of the log that is not what was written.
type damage struct {
	at  int64
	key string // of the object that is hit, "" if it is unknown
	why string
}

func (d damage) Error() string {
	if d.key != "" {
		return fmt.Sprintf("%s, at byte %d: %s", displayKey(d.key), d.at, d.why)
	}
	return fmt.Sprintf("at byte %d: %s", d.at, d.why)
}

// appendRecord appends the record of a change to b, for a position in the log.
func appendRecord(b []byte, at int64, c Change) []byte {
	start := len(b)
	b = append(b, make([]byte, frameSize)...)
	b = binary.AppendUvarint(b, uint64(c.Revision))
	b = binary.AppendUvarint(b, uint64(len(c.Key)))
	b = append(b, c.Key...)
	b = append(b, c.Value...)
	frame, content := b[start:start+frameSize], b[start+frameSize:]
	binary.BigEndian.PutUint32(frame, uint32(len(content)))
	binary.BigEndian.PutUint32(frame[4:], checksum(content))
	binary.BigEndian.PutUint32(frame[8:], frameChecksum(frame, at))
	return b
}

// frameChecksum covers the record's position, so that a record in the wrong place is not taken for one.
func frameChecksum(frame []byte, at int64) uint32 {
	var place [8]byte
	binary.BigEndian.PutUint64(place[:], uint64(at))
	return crc32.Update(checksum(frame[:8]), castagnoli, place[:])
}

// parseContent reads a record's content. The change shares its bytes.
func parseContent(content []byte) (c Change, ok bool) {
	rev, n := binary.Uvarint(content)
	if n <= 0 || rev > 1<<63-1 {
		return c, false
	}
	content = content[n:]
	size, n := binary.Uvarint(content)
	if n <= 0 || size > uint64(len(content)-n) {
		return c, false
	}
	c.Revision, c.Key = int64(rev), content[n:n+int(size)]
	if value := content[n+int(size):]; len(value) > 0 {
		c.Value = value
	}
	return c, true
}

// readLog visits the changes of a log of that many bytes, in order, and returns where it ends. A write that a kill or a power cut
// interrupted ends it: such a write was not acknowledged. Anything else that is wrong is damage. visit may keep the change.
func readLog(r io.Reader, size int64, visit func(Change) error) (end int64, err error) {
	head := make([]byte, min(size, headerSize))
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, err
	}
	durable, err := parseHeader(head)
	switch {
	case err != nil:
		return 0, err
	case size < durable:
		return 0, damage{at: size, why: fmt.Sprintf("it ends there, and had at least %d bytes", durable)}
	}
	var frame [frameSize]byte
	for at := int64(headerSize); ; {
		broken := func(key, why string) (int64, error) {
			if at >= durable {
				return at, nil
			}
			return 0, damage{at, key, why}
		}
		if size-at < frameSize {
			if size == at {
				return at, nil
			}
			return broken("", "a record is incomplete")
		}
		if _, err := io.ReadFull(r, frame[:]); err != nil {
			return 0, err
		}
		length := int64(binary.BigEndian.Uint32(frame[:]))
		if frameChecksum(frame[:], at) != binary.BigEndian.Uint32(frame[8:]) || length > maxContent {
			return broken("", "the checksum of a record's frame is wrong")
		}
		if length > size-at-frameSize {
			return broken("", "a record is incomplete")
		}
		content := make([]byte, length)
		if _, err := io.ReadFull(r, content); err != nil {
			return 0, err
		}
		c, ok := parseContent(content)
		if !ok || checksum(content) != binary.BigEndian.Uint32(frame[4:]) {
			return broken(string(c.Key), "its checksum is wrong")
		}
		if err := visit(c); err != nil {
			return 0, err
		}
		at += frameSize + length
	}
}
