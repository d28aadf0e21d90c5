package fakeapiserver

// Breakage says how a frame breaks on the wire.
type Breakage uint8

const (
	// CutFrame ends the connection somewhere in the bytes of the frame.
	CutFrame Breakage = iota + 1
	// CutLength ends it in the length before the frame (or in its first byte, where frames have no length).
	CutLength
	// Garbage sends bytes in place of the frame that are not one; the connection goes on.
	Garbage
)

// WireReceiver is a Receiver that has bytes to break: it is told of the frame that breaks, and how, and what its client makes
// of that is the client's. A Receiver that is none is told what the decoder of a client would have said.
type WireReceiver interface {
	Receiver
	OnBrokenFrame(req ReqID, e Event, how Breakage)
}
