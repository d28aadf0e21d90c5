// Package property defines a property: a value with a name and functions that judge a run, much like a model of porcupine.
// Scenarios and Go tests (package simtest) take any, the project's own (package properties) or a user's:
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
// The package owns the type and the [Monitor] that passes records on. It must know no particular property, nor who runs it.
package property
