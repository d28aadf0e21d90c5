// Package wellbehaved holds the properties of a well-behaved controller: one that comes to rest, neither fights with another nor undoes
// what that has done, and leaves nothing behind. They need no word from the controller's author, because they judge only what its clients do at the API: who wrote what, after
// which reads.
//
// None of them follows from the API's rules, so none is checked unless it is asked for, and each has exceptions by name. Where a correct
// controller might look like a broken one, they hold their tongue: most judge only what is left when the faults have stopped and nothing has been
// changed from outside for a long while.
//
// The package owns the followers of writes. It must know no process, and nothing of what the test's process does.
package wellbehaved
