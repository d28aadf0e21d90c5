// Package cli is the command line that informersim and informersim-apiserver share: exit codes, checks of arguments, and how an
// error is reported.
//
// It knows no command of either program.
package cli
