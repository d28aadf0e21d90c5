package gates

// Release is the release of client-go that this program is built with. A guest's build sets it.
var Release = "v0.37.2"
