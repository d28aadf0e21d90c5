package rest

import "github.com/informersim/informersim/fakeapiserver"

var _ fakeapiserver.WireReceiver = (*call)(nil)

// garbage is what comes in place of a frame: no JSON document begins like that, and as a length it is longer than a client
// takes.
const garbage = "\xff\xff\xff\xff no frame\n"

// OnBrokenFrame implements fakeapiserver.WireReceiver: a fault has cut the frame, or replaced it.
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
