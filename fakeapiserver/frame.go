package fakeapiserver

// frame is what a deliver brings to the client.
type frame struct {
	display string
	event   Event
	end     bool // the bookmark that ends the initial events
}
