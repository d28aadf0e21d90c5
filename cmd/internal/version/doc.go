// Package version knows the version of this program: that of its module, and that of the arrangement between informersim and
// informersim-apiserver, two programs that may have been installed at different times.
//
// It reads what the linker recorded. It may not ask the go command, the network or the file system.
package version
