package world

import (
	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// A property sees a test's world only at the API: informers and workers belong to the user's processes.
var _ property.World = (*world)(nil)

// Kernel implements property.World.
func (w *world) Kernel() *sim.Kernel { return w.kernel }

// Cluster implements property.World.
func (w *world) Cluster() *fakeapiserver.Cluster { return w.cluster }

// Informers implements property.World.
func (*world) Informers() []subjects.Informer { return nil }

// Informer implements property.World.
func (*world) Informer(string) subjects.Informer { return nil }

// InformerOf implements property.World.
func (*world) InformerOf(sim.ActorID) subjects.Informer { return nil }

// Workers implements property.World.
func (*world) Workers() []subjects.Workers { return nil }

// Divergence implements property.World.
func (*world) Divergence(subjects.Informer) (key, message string) { return "", "" }

// Explores implements property.World.
func (*world) Explores() bool { return true }
