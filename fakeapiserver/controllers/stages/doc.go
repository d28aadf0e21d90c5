// Package stages has the language in which users say how objects live that no real machine runs: Stages, as KWOK has them
// (https://kwok.sigs.k8s.io/docs/user/stages-configuration). A Stage says which objects it is for, how long it takes, and what the object
// is like afterwards. An object goes from stage to stage: a Pod starts, becomes ready, and ends.
//
// The package is pure: it parses Stages, says which of them is next for an object, and how they change it. When that happens, and who
// commits it, is up to controllers.Stages.
//
// What may not be done here: read a clock, draw random numbers other than the caller's, or know a cluster.
package stages
