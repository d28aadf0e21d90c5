package network

// Mistakes are common mistakes in controllers. The zero value has none.
type Mistakes struct {
	// IgnoreTombstones: the delete handlers expect objects only, and not the tombstone, a DeletedFinalStateUnknown, with which an
	// informer reports a deletion that it missed.
	IgnoreTombstones bool
	// ForgetFailures: a key whose processing failed is not requeued.
	ForgetFailures bool
	// NoSweep: networks whose object was deleted while the controller was down are leaked.
	NoSweep bool
	// NoSync: the workers do not wait until the caches have synced, and take what is not there yet for deleted.
	NoSync bool
	// SkipResyncs: the handler drops updates that change nothing, and with them the chance to notice that the real network did.
	SkipResyncs bool
	// GenerationOnly: the handler drops updates that leave the generation as it was: changes of the status, and an object that was
	// deleted and created again while no watch was open.
	GenerationOnly bool
	// NoChildren: the ConfigMaps are not watched, so one that somebody deletes or changes stays that way.
	NoChildren bool
	// WriteToCache: the status is set in the informer's own object. If the write to the server fails, the cache says that it is done.
	WriteToCache bool
	// DropConflicts: a status that conflicts with another write is given up, in the belief that an event will bring it up again. But
	// the handler drops updates in which neither generation nor status differ, such as those of annotations.
	DropConflicts bool
	// RemoveOnce: a network that is already gone when it should be removed is an error, so the removal is retried for ever if an
	// attempt had succeeded without saying so.
	RemoveOnce bool
	// GenerateName: the server makes up the ConfigMap's name, and the controller looks for an existing one in its cache, which lacks
	// the one created a moment ago.
	GenerateName bool
}
