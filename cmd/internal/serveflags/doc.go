// Package serveflags declares `informersim serve`: its flags, its help, and the checks that need nothing but the command line.
//
// Two programs have the command. informersim answers --help and refuses a wrong command line by itself, and starts
// informersim-apiserver for the rest. So this package may import nothing that makes informersim larger.
package serveflags
