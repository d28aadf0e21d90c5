// Package keytable finds things by their keys: a hash table for the one lookup that every step of a run makes, of an object
// by "namespace/name".
//
// It differs from a map in what a lookup costs when the table is larger than the processor's caches. The hash, the place of
// the key and the value are side by side, so that a lookup touches one line of the table; and a key that is the very string
// that was put in, as it is where keys are passed on from one component to the next, is not looked at. It has no order, and
// cannot be ranged over.
//
// The package owns the table and its hash function. It may not know what is stored.
package keytable
