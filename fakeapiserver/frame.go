package fakeapiserver

// frame is a watch event on its way to the client.
type frame struct {
	display string
	event   Event
	end     bool // the bookmark that ends the initial events
}
