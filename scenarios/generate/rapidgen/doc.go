// Package rapidgen draws scenarios with rapid, a library for property-based tests, which then shrinks those that fail:
//
//	rapid.Check(t, func(t *rapid.T) {
//		s := rapidgen.Scenario().Draw(t, "scenario")
//		…
//	})
//
// It is a package of its own, so that only tests that use rapid compile it.
//
// What may not be done here: run a scenario, or know a subject or a property. What a scenario is made of is package generate's.
package rapidgen
