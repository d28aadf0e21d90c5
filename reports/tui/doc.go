// Package tui is the screen of `informersim tui`: a run to step through, with the state of every part at the cursor. A [Model] is pressed keys
// and asked for its screen. It owns neither a terminal nor a goroutine: the command does.
package tui
