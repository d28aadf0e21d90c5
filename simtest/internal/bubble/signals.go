package bubble

import (
	"os"
	"os/signal"
)

// notifyOutside has the runtime make what it keeps for signals. It does so at the first signal.Notify, with channels and a goroutine, and if that call is in a bubble, as
// controller-runtime's SetupSignalHandler may be, the process ends with a fatal error.
func notifyOutside() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
}
