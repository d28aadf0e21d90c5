package informersim

import "embed"

// GuestSources are what a guest is built of: client-go's gates and the pipe to them, for any release of client-go (package
// subjects/clientgo/pipe). They are this module's own files, at their own places.
//
//go:embed bubble/*.go world/wire/*.go informer/rest_retry.go informer/http2_lost.go informer/no_http2_lost.go
//go:embed informer/eof_retries.go informer/no_eof_retries.go informer/watch_retries.go informer/no_watch_retries.go
//go:embed subjects/failure.go subjects/filter.go subjects/forgotten.go subjects/index.go subjects/outcome.go subjects/reading.go subjects/revision.go subjects/transform.go
//go:embed subjects/clientgo/gates/*.go subjects/clientgo/gates/library/*.go subjects/clientgo/pipe/*.go subjects/clientgo/guest/*.go
var GuestSources embed.FS

// Bugs is docs/spec/bugs.md, the list of bugs that really happened.
//
//go:embed docs/spec/bugs.md
var Bugs string
