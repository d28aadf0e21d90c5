// Hostile feeds generated bad inputs to the two commands, and checks how they refuse them.
//
//	go run ./internal/hostile --bin informersim --apiserver informersim-apiserver --keep folder [--seed N] [--only ID]
//
// Inputs are mutations of good ones: scenarios, traces, recordings, fault mixes, kubeconfigs, the files of serve, the requests of
// both its ports, command lines and the environment. A refused input must end in exit status 2, or in a 4xx, with one clear message
// that names the place, and may have changed no file and no revision. Nothing may panic or hang. A mutation may leave an input
// valid: each says whether it does, may, or does not.
//
// Equal seeds make equal inputs. A failure prints the line that repeats it, and keeps its files.
//
// What may not be done here: import a package of the product. Only what a user can reach counts.
package main
