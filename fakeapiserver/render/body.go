package render

import "io"

// Body is the body of an answer in pieces, which it may share with other answers: nobody may write to them. The zero value is
// empty.
type Body struct {
	Head  []byte
	Items [][]byte
	// Between stands between two items.
	Between []byte
	Tail    []byte
}

// Len is how many bytes there are.
func (b *Body) Len() int {
	n := len(b.Head) + len(b.Tail) + max(0, len(b.Items)-1)*len(b.Between)
	for _, item := range b.Items {
		n += len(item)
	}
	return n
}

// Bytes are all bytes in one piece, which may be a shared one.
func (b *Body) Bytes() []byte {
	if len(b.Items) == 0 && len(b.Tail) == 0 {
		return b.Head
	}
	all := make([]byte, b.Len())
	io.ReadFull(b.NewReader(), all) // a Reader ends where Len says, and fails nowhere
	return all
}

// Reader reads a Body.
type Reader struct {
	body  *Body
	piece []byte // what is left of the piece under way
	next  int    // the piece after it
}

// NewReader reads a body from its beginning.
func (b *Body) NewReader() *Reader { return &Reader{body: b} }

// Read implements io.Reader. It fills p as long as there is anything.
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

// advance goes to the next piece; false after the last. The pieces are the head, the items with what stands between them, and
// the tail.
func (r *Reader) advance() bool {
	b, last := r.body, 2*len(r.body.Items)-1 // the last item, as a piece
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
