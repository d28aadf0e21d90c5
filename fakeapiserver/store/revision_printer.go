package store

import (
	"strconv"
	"unsafe"
)

// revisionPrinter prints revisions into shared chunks of memory: one allocation for some thirty strings. Chunks are small,
// because a single string keeps its whole chunk alive.
type revisionPrinter struct {
	chunk []byte
	last  []byte // the last text printed
	rev   int64  // the revision of last
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
