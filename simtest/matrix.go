package simtest

import (
	"maps"
	"reflect"
	"slices"
	"testing"
)

// Matrix is Run under several circumstances: each variant is a subtest of that name, with the options of base, and in their place those of the
// variant that are not zero. The subtests run in the order of their names. Seeds draw circumstances anyway; a variant makes sure of one, names it in
// the test's result, and has traces of its own.
//
// What [Env.Sometimes] states must hold in some seed of each variant.
//
// A negative CrashProbability, History or Shrink, and the settings On and Off, are how a variant takes back what base has.
func Matrix(t *testing.T, base Options, variants map[string]Options, body func(env *Env)) {
	t.Helper()
	if len(variants) == 0 {
		fatal(t, "simtest: Matrix needs variants, got none")
	}
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		o := merged(base, variants[name])
		t.Run(name, func(t *testing.T) {
			t.Helper()
			Run(t, o, body)
		})
	}
}

// merged returns base with the fields of another that are not zero.
func merged(base, other Options) Options {
	to, from := reflect.ValueOf(&base).Elem(), reflect.ValueOf(other)
	for i := range from.NumField() {
		if f := from.Field(i); !f.IsZero() {
			to.Field(i).Set(f)
		}
	}
	// One replaces the other, and so does an order in which no fault happens.
	switch {
	case other.Mix != "" && other.FaultMix == nil:
		base.FaultMix = nil
	case other.Strategy == "fifo" && other.FaultMix == nil:
		base.Mix, base.FaultMix, base.CrashProbability = "", nil, other.CrashProbability
	}
	return base
}
