// Package version provides the version of this program's module, and that of the interface between informersim and
// informersim-apiserver, two programs that may have been installed at different times.
//
// It reads what the linker recorded. It may not use the go command, the network or the file system.
package version
