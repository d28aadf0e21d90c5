// Package property is what a property is: a value with a name and functions that judge a run, as a model of porcupine is one.
// Scenarios and Go tests (package simtest) take any, the project's own (package properties) as well as a user's:
//
//	property.Property{
//		Name:      "NoSecretIsDeleted",
//		Statement: "nothing deletes a Secret",
//		Kinds:     []sim.Kind{fakeapiserver.KindCommit},
//		New: property.OnRecord(func(w property.World, r *sim.Record) *reports.Violation {
//			if r.Detail == "DELETED" && strings.HasPrefix(r.Key, "secrets ") {
//				return &reports.Violation{Key: r.Key, Message: r.Key + " was deleted"}
//			}
//			return nil
//		}),
//	}
//
// The package owns the type and the [Monitor] that passes records on. It may know neither a property nor who runs them.
package property
