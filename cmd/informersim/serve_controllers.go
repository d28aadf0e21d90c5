package main

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/controllers"
)

// runControllers runs those of --controllers.
func (f *serveFlags) runControllers(c *fakeapiserver.Cluster) error {
	if f.slow < 0 || f.lag < 0 {
		return fmt.Errorf("--controller-delay and --controller-lag must not be negative")
	}
	o := controllers.Options{Delay: f.slow, Lag: f.lag}
	running := map[string]bool{}
	for _, name := range f.controllers {
		if running[name] {
			continue
		}
		running[name] = true
		switch name {
		case "namespace":
			controllers.NewNamespaceController(c, o)
		case "garbage-collector":
			controllers.NewGarbageCollector(c, o)
		default:
			return fmt.Errorf("--controllers: there is no controller %q: there are namespace and garbage-collector", name)
		}
	}
	return nil
}
