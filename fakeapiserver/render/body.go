package render

import "io"

// Body is the body of an answer in pieces, which it may share with other answers: they must not be modified. The zero value is
// empty.
type Body struct {
	Head  []byte
	Items [][]byte
	// Between separates two items.
	Between []byte
	Tail    []byte
}

// Len returns the number of bytes.
func (b *Body) Len() int {
	n := len(b.Head) + len(b.Tail) + max(0, len(b.Items)-1)*len(b.Between)
	for _, item := range b.Items {
		n += len(item)
	}
	return n
}

// Bytes returns all bytes in one piece, which may be shared.
func (b *Body) Bytes() []byte {
	if len(b.Items) == 0 && len(b.Tail) == 0 {
		return b.Head
	}
	all := make([]byte, b.Len())
	io.ReadFull(b.NewReader(), all) // cannot fail: a Reader has exactly Len bytes
	return all
}

// Reader reads a Body.
type Reader struct {
	body  *Body
	piece []byte // the rest of the current piece
	next  int    // the piece after it
}

// NewReader returns a Reader at the beginning of b.
func (b *Body) NewReader() *Reader { return &Reader{body: b} }

// Read implements io.Reader. It fills p if enough bytes are left.
func (r *Reader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.piece) == 0 && !r.advance() {
			if n == 0 {
				return 0, io.EOF
			}
			break
		}
		m := copy(p[n:], r.piece)
		r.piece = r.piece[m:]
		n += m
	}
	return n, nil
}

// advance moves to the next piece; false after the last. The pieces are the head, the items with separators between them, and the
// tail.
func (r *Reader) advance() bool {
	b, last := r.body, 2*len(r.body.Items)-1 // index of the last item's piece
	switch n := r.next; {
	case n == 0:
		r.piece = b.Head
	case n <= last && n%2 == 1:
		r.piece = b.Items[n/2]
	case n < last:
		r.piece = b.Between
	case n == max(0, last)+1:
		r.piece = b.Tail
	default:
		return false
	}
	r.next++
	return true
}
