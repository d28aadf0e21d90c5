// Package transcript plays scripts of kubectl commands against an apiserver and compares what they print with what is
// written below them.
//
// A script is a list of blocks separated by empty lines; `#` begins a comment line. A block is a command, its standard
// input in lines that begin with `| `, a line `----`, and the expected output, in which times, ages, uids,
// resourceVersions and addresses are masked:
//
//	kubectl apply -f -
//	| apiVersion: conformance.informersim.dev/v1
//	| kind: Gizmo
//	----
//	gizmo.conformance.informersim.dev/a created
//
// A command that fails shows `exit STATUS` in the last line. `start NAME kubectl …` runs one in the background and waits
// for its first output, `stop NAME` waits until it has been quiet for a while, ends it and shows what it printed, and
// `finish NAME` waits until it ends by itself.
package transcript
