// Package serveflags declares `informersim serve`: its flags, its help, and the checks that need nothing but the command line.
//
// Two programs have the command. informersim itself prints the help and refuses a wrong command line, and starts
// informersim-apiserver for the rest. So this package may import nothing that makes informersim larger.
package serveflags
