// Package wire is the protocol between a test (module simtest) and its engine (package world), which are two processes.
//
// A message is a length (4 bytes, little endian, of what follows), a kind (1 byte) and fields: numbers (varints), texts (their length, their bytes).
// One side speaks at a time, and the engine says whose turn it is:
//
//	test → engine   Hello    hello as JSON      the first message; the engine answers with its own
//	                Job      job as JSON        runs to be made: a seed, or a trace that is replayed
//	                Query    …                  something read at once: Answer follows. Also between Do and Report
//	                Report   elapsed, event*    what came of Do, once nothing in the bubble moves any more
//	                Called   error, code, header, body
//	                                            what the handler of a conversion webhook answers, or why it does not
//	                Ended    failed, stuck, error, log
//	                                            the bubble has ended: whether the test has failed by itself, whether a goroutine never rests,
//	                                            what kept the bubble from ending. The log is one field: the number of lines that are lost,
//	                                            then of each line the step, the elapsed time and the text; it is empty if nobody wants it
//	engine → test   Hello    hello as JSON
//	                Begin    seed, failure, interleave, detect
//	                                            make a bubble. The failure is the report of one that is being shrunk from now on; else it is "".
//	                                            The flags have the seed interleave the bubble's goroutines, and client-go watch what its caches hold
//	                Do       flags, step, duration, steps, revision, faults, action*
//	                                            carry out, let time pass, rest, call the checks: Report follows
//	                Answer   …
//	                Call     direct, URL, header, body
//	                                            call a conversion webhook at once: Called follows. Between two steps, in the middle of one, or while
//	                                            the test waits for an Answer. The flag is set if it is no call of the apiserver's: a handler
//	                                            whose process is down answers, too
//	                End      flag               end the bubble: Ended follows, with the log if the flag is set
//	                Finished result as JSON, trace
//	                                            what came of the Job; another may follow
//
// A run is Begin, any number of Do, End; a job makes several of them when it verifies, shrinks or replays. Actions and events are
// lists of single bytes with their fields, documented beside their names.
//
// What may not be done here: import anything but the standard library, or know what a field means. A copy of the package is part of the
// module simtest (see internal/tidy/mirrors_test.go). Every change of it needs a new [Protocol].
package wire
