// Package gates is what the subject client-go has inside its bubble: client-go's unmodified SharedIndexInformer and work queue, and
// the gates at which their goroutines wait until the kernel lets them go on (package clientgo says which they are).
//
// The kernel's side opens gates by the methods of [Gates], and learns by [Event] values, after each wait for quiescence, what the
// goroutines have done since. It may be in this process, or at the other end of a pipe: then this package is part of a guest, a
// program that is built with another release of client-go.
//
// What may not be done here: make decisions that are the kernel's, or know it. A guest is built of this package and of a few files of
// other packages, so it may import only what those files declare.
package gates
