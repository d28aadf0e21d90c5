// Package factory shares informers: one for each Go type, started and stopped together, as client-go's
// informers.SharedInformerFactory does (I91 to I93). Generated listers work on what it returns.
//
// client-go's own factory can hold this project's informers too: an informer registered with its InformerFor before the
// generated informer of that type is first requested is the one that the generated informer and lister use. The tests
// demonstrate this.
//
// The package owns which informers exist and which run. It may not depend on their internals.
package factory
