// Package informer is the informer stack as state machines that are stepped: Reflector, DeltaFIFO and RealFIFO, Controller,
// Indexer, Processor, MutationDetector, and the REST client's retries (RESTRetry). They behave as client-go v0.37.2's
// tools/cache does; comments cite the numbered behaviours of docs/spec/informer.md (I1 to I90) where they fix one.
//
// # How it is used
//
// Nothing here runs by itself. Whoever uses the package, a simulator or the goroutines of a drop-in informer, carries out
// what the Reflector wants, tells it what happened and when, and takes the inner steps one at a time in any order:
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
//		inf.Reflector.OnTime(now)      // whenever time has moved; Reflector.NextTime says when it has something to do
//		_, err := inf.Controller.Step() // queue → store → rings of the listeners
//		l.Deliver()                     // one call of the handler
//	}
//
// Informer only puts the parts together. Each can be used alone, and each is joined to its neighbours by a small interface
// or a function field (QueueWriter, Queue, Store, Controller.Process, Controller.Distribute), so that a test can put a
// double, a defective one for instance, in any one place.
//
// # What it owns, and what may not be done in it
//
// It owns the semantics of the stack and all its state. It starts no goroutine, makes no channel, takes no lock, reads no
// clock and no random source (time and randomness are told), and lets no map order be seen: where client-go follows map
// order, it goes in ascending key order or in the order of registration, which is one of the orders client-go may choose.
// It imports the contract types of client-go's tools/cache and nothing of a simulator. No type is safe for concurrent use.
package informer
