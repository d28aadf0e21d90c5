package main

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/controllers"
)

// runControllers starts the controllers of --controllers.
func (f server) runControllers(c *fakeapiserver.Cluster) error {
	o := controllers.Options{Delay: f.ControllerDelay, Lag: f.ControllerLag}
	running := map[string]bool{}
	for _, name := range f.Controllers {
		if running[name] {
			continue
		}
		running[name] = true
		switch name {
		case "namespace":
			controllers.NewNamespaceController(c, o)
		case "garbage-collector":
			controllers.NewGarbageCollector(c, o)
		case "serviceaccount":
			controllers.NewServiceAccountController(c, o)
		default:
			return fmt.Errorf("--controllers: %s is in serveflags.Controllers, but cannot be started", name)
		}
	}
	return nil
}
