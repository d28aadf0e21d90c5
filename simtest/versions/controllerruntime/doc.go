// Package controllerruntime is a reconciler in one source for every release of controller-runtime from v0.16: each ConfigMap has a Secret of its
// name. Its test runs with the release that go.mod names; `.ci/run versions` tries one of each minor.
package controllerruntime
