// Package informers is the common part of informers and their handlers, whichever engine runs them: which objects an informer
// selects, its handlers by name, holds, the faults of handlers' calls, and the records of all of these.
//
// An engine embeds [Informer] and [Handler] in its actors, and implements [Engine] and [EngineHandler].
//
// What may not be done here: make decisions that are an informer's.
package informers
