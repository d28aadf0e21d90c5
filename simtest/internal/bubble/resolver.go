package bubble

import (
	"context"
	"net"
)

// resolveOutside has package net make what it keeps for all look-ups of names. It does so at the first one, with channels, and channels that are made
// inside a bubble may not be used in the next: a program that looks up a name in each run would end with a fatal error in the second. Nothing is sent.
func resolveOutside() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = net.DefaultResolver.LookupHost(ctx, "localhost")
}
