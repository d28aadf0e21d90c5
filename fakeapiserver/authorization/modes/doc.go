// Package modes has the names of authorization modes, for command lines. It links nothing.
package modes
