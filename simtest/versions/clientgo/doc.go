// Package clientgo is a controller written against client-go alone, in one source for every release of it from v0.26: each ConfigMap has a
// Secret of its name. Its test runs with the release that go.mod names; `.ci/run versions` tries one of each minor.
package clientgo
