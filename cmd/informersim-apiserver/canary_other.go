//go:build !unix

package main

// canary does nothing here: a test that is interrupted is one whose process died.
type canary struct{}

func newCanary() *canary { return nil }

func (*canary) close() {}

func (*canary) interrupted() string { return "" }

func (*canary) stopped() bool { return false }

// isProcess reports whether there is a process of that number, as far as is known.
func isProcess(int) bool { return false }
