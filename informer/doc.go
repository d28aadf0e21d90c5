// Package informer is the informer stack as state machines that are stepped: Reflector, DeltaFIFO and RealFIFO, Controller,
// Indexer, Processor, MutationDetector, and the REST client's retries (RESTRetry). They behave as client-go v0.37.2's
// tools/cache does; comments cite the numbered behaviours of docs/spec/informer.md (I1 to I90) where they fix one.
//
// # How it is used
//
// Nothing here runs on its own. The caller (a simulator, or the goroutines of a drop-in informer) carries out what the
// Reflector wants, reports what happened and when, and takes the inner steps one at a time in any order:
//
//	inf := informer.NewInformer(informer.InformerOptions{Indexers: indexers})
//	l, _ := inf.AddHandler(handler, informer.ListenerOptions{Name: "h1"}, now)
//	inf.Start(now)
//	for {
//		switch w := inf.Reflector.Want(); w.Op { // acts on each w.Seq once
//		case informer.OpList: // send w.Options; answer with OnPage, OnList or OnListError
//		case informer.OpWatch: // open w.Options; answer with OnWatchOpened or OnWatchOpenError, then OnEvent …, OnWatchClosed
//		case informer.OpSleep: // advance time to w.Until
//		}
//		inf.Reflector.OnTime(now)      // whenever time has moved; Reflector.NextTime says when it is next due
//		_, err := inf.Controller.Step() // queue → store → rings of the listeners
//		l.Deliver()                     // one call of the handler
//	}
//
// Informer only assembles the parts. Each works alone, and each is joined to its neighbours by a small interface or a
// function field (QueueWriter, Queue, Store, Controller.Process, Controller.Distribute), so that a test can replace any one
// of them with a double or a defective version.
//
// # What it owns, and what may not be done in it
//
// It owns the semantics of the stack and all its state. It starts no goroutine, makes no channel, takes no lock, reads no
// clock and no random source (callers pass in time and randomness), and exposes no map order: where client-go follows map
// order, it uses ascending key order or registration order, each an order that client-go may choose. It imports the
// contract types of client-go's tools/cache and nothing of a simulator. No type is safe for concurrent use.
package informer
