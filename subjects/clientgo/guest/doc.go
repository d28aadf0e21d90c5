// Guest is client-go on the other end of a pipe: a kernel, in another process, drives it by its standard input and output (package
// pipe). It is built with the release of client-go that its go.mod names; in this module, that is the built-in one.
//
// What may not be done here: anything but to serve. What the guest does is in packages gates and pipe.
package main
