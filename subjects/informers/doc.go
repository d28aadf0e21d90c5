// Package informers is what informers and their handlers have in common whichever engine runs them: which objects an informer
// selects, its handlers by name, what is held, the faults of handlers' calls, and the records of all that.
//
// An engine embeds [Informer] and [Handler] in its actors, and says the rest through [Engine] and [EngineHandler].
//
// What may not be done here: decide anything that an informer decides.
package informers
