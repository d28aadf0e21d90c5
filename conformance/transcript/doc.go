// Package transcript runs scripts of kubectl commands against an apiserver and compares their output with the expected
// output in the script.
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
// The output of a command that fails ends with `exit STATUS`. `start NAME kubectl …` runs a command in the background and
// waits for its first output, `stop NAME` waits until it has been quiet for a while, interrupts it and shows its output,
// and `finish NAME` waits until it exits.
package transcript
