// Package keytable is a hash table for the one lookup that every step of a run makes: of an object by "namespace/name".
//
// Its lookups are cheaper than a map's when the table is larger than the processor's caches. The hash, the pointer to the key
// and the value are adjacent, so that a lookup touches one cache line of the table, and a key that is the same string as the
// one stored, as when components pass keys on, is not compared byte by byte. The table has no order, and cannot be ranged
// over.
//
// The package owns the table and its hash function. It must not know what is stored.
package keytable
