// Package launcher starts informersim-apiserver for `informersim serve` and `informersim world`, and informersim-kubectl for the kubectl
// that `informersim assets` writes.
//
// The server links the libraries of a real apiserver: more than a thousand packages, minutes of compiling. A clone's first
// `go run ./cmd/informersim run` should not wait for that, so the server is a program of its own, and serve looks for it:
//
//  1. the environment variable INFORMERSIM_APISERVER, a path. It decides: if the program there does not fit, serve fails, and
//     if it is older than the source, a line says so.
//  2. beside informersim's own executable.
//  3. on the PATH.
//  4. in the cache (os.UserCacheDir), where an earlier start has built it.
//  5. the go command builds it, into the cache: for a released version with `go install PACKAGE@VERSION`, for a working copy with
//     `go build` in it.
//
// A program matches if its command version prints informersim's own version and protocol number. One that does not match is named
// on stderr and skipped. A working copy has no version that identifies the state of its source. It therefore skips 3 and 4: go
// build has a cache of its own, and knows when the source is newer. For the same reason the program that it built need only have
// the right protocol number, and a program beside the executable is used unless the source has changed since it was built.
//
// On Unix informersim then becomes the server (execve): its process, signals, standard streams and exit code are the server's.
// Elsewhere the server is a child; signals are forwarded to it, and its exit code is passed on.
//
// kubectl is found in the same way, with INFORMERSIM_KUBECTL, which may name any kubectl, and so is informersim-controllers, by the engine of Go tests, with
// INFORMERSIM_CONTROLLER_MANAGER. The latter is built with the overlay of Go's runtime, by the toolchain that this program was built with, and skipped where it was built
// without.
//
// The package does not interpret flags: the command line is passed on unchanged.
package launcher
