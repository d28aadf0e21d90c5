package rest

import "github.com/informersim/informersim/fakeapiserver"

var _ fakeapiserver.WireReceiver = (*call)(nil)

// garbage replaces a frame: no JSON document begins like this, and read as a length it exceeds what clients accept.
const garbage = "\xff\xff\xff\xff no frame\n"

// OnBrokenFrame implements fakeapiserver.WireReceiver: a fault has cut or replaced the frame.
func (c *call) OnBrokenFrame(_ fakeapiserver.ReqID, e fakeapiserver.Event, how fakeapiserver.Breakage) {
	frame, err := c.encoder.frame(c, e)
	if err != nil {
		c.sink.Close(err)
		c.cancel()
		return
	}
	switch how {
	case fakeapiserver.CutFrame:
		c.sink.Frame(frame[:len(frame)/2])
	case fakeapiserver.CutLength:
		c.sink.Frame(frame[:min(2, len(frame))])
	case fakeapiserver.Garbage:
		c.sink.Frame([]byte(garbage))
	}
}
