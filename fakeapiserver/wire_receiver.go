package fakeapiserver

// Breakage is a way in which a frame breaks on the wire.
type Breakage uint8

const (
	// CutFrame ends the connection within the bytes of the frame.
	CutFrame Breakage = iota + 1
	// CutLength ends it within the frame's length prefix, or its first bytes where frames have none.
	CutLength
	// Garbage replaces the frame with bytes that do not decode; the connection stays open.
	Garbage
)

// WireReceiver is a Receiver that encodes frames: it gets the frame and how it breaks, and its client reacts to the bytes. Any
// other Receiver gets the error that a client's decoder would have reported.
type WireReceiver interface {
	Receiver
	OnBrokenFrame(req ReqID, e Event, how Breakage)
}
