// Package factory shares informers: one for each Go type, started and stopped together, as client-go's
// informers.SharedInformerFactory does (I91 to I93). Generated listers work on what it returns.
//
// client-go's own factory can hold this project's informers too: what is registered with its InformerFor before the
// generated informer of that type is asked for is what the generated informer and lister then use. The tests show it.
//
// The package owns which informers exist and which run. It may not look into one.
package factory
