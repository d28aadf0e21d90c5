// Package script is the syntax of the scenario language (`*.sim` files): it parses, prints and rewrites scripts and gives
// the implementation of a command typed access to its arguments, with errors that say the place.
//
// The language, one command per line:
//
//	# prose: a whole line, or after whitespace at the end of a command line
//	cluster replicas=1 history=1000
//	create pods default/a "two words" note="two words" {"spec": {}}   # prose
//	log h1
//	----
//	h1 add default/a rv=1 initial
//
// A command is a name (a letter, then letters, digits, `_`, `.`, `-`) and words. A word is bare (no whitespace, no
// quote, no leading `{` or `#`) or a Go string in double quotes. `key=value` words and positional words may be mixed;
// their order is kept. A key is a letter, then letters, digits, `_`, `.`, `-`, `/`; a positional word that contains `=`
// is quoted. The value may be quoted, and must be when it is empty.
//
// The last thing of a command may be a payload: a JSON object, which may run over several lines.
//
// `----` on the line below a command starts its expected output, which ends at the next blank line or the end of the
// file. Output that has blank lines or lines of dashes, or is followed by something else than a blank line, is fenced: a
// second line of dashes after the first, and two lines of as many dashes at the end (four of them, or more when the
// output itself has such a line).
//
// The package owns the syntax and nothing else. It must not know what a command means, nor anything of Kubernetes; it
// opens no file but the script it is told to read, and keeps no state.
package script
