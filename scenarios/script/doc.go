// Package script is the syntax of the scenario language (`*.sim` files): it parses, prints and rewrites scripts and gives
// the implementation of a command typed access to its arguments, with errors that carry positions.
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
// their order is preserved. A key is a letter, then letters, digits, `_`, `.`, `-`, `/`; a positional word that contains `=`
// must be quoted. A value may be quoted, and must be if it is empty.
//
// A command may end with a payload: a JSON object, which may span several lines.
//
// `----` on the line below a command starts its expected output, which ends at the next blank line or the end of the
// file. Output that contains blank lines or lines of dashes, or is not followed by a blank line, is fenced: two lines of
// dashes before it and two lines of as many dashes after it (four dashes, or more if the output itself has such a line).
//
// The package owns the syntax and nothing else. It must not know the meaning of a command or anything of Kubernetes, open
// any file but the script it is given, or keep state.
package script
