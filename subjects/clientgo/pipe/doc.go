// Package pipe is the protocol between a kernel and a guest, which is a process that holds client-go in a bubble (package gates), and the
// guest's side of it. The kernel's side is package remote.
//
// Messages are those of package wire. One side speaks at a time:
//
//	guest → kernel   Hello   release            the first message, once
//	kernel → guest   Begin   seed, quiescence   make a bubble
//	                 Do      order*             carry out; Report follows
//	                 End                        end the bubble; Ended follows
//	guest → kernel   Report  elapsed, panic, events, results
//	                 Ended   kind, text         the bubble has ended; also in the place of a Report, when it never comes to rest
//
// An order is a byte and fields, documented beside its name. Orders without a result travel with the next that has one. An object
// crosses with its metadata once, and as a number from then on: a pointer here is the same pointer there.
//
// What may not be done here: import what a guest does not have (see package gates).
package pipe
