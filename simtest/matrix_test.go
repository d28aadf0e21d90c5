package simtest

import (
	"reflect"
	"testing"

	"github.com/informersim/informersim/simtest/fault"
)

// What a variant says takes the place of what all have.
func TestVariantsTakeThePlaceOfTheBase(t *testing.T) {
	mine := &fault.Mix{Name: "mine"}
	base := Options{Seeds: 3, FaultMix: mine, CrashProbability: 0.5, Replicas: 2, CRDs: []string{"a"}}
	for name, test := range map[string]struct{ variant, want Options }{
		"nothing": {Options{}, base},
		"numbers": {Options{Replicas: 1, CrashProbability: -1, WatchList: Off}, Options{Seeds: 3, FaultMix: mine, CrashProbability: -1, Replicas: 1, WatchList: Off, CRDs: []string{"a"}}},
		"a mix":   {Options{Mix: "none", CRDs: []string{"b"}}, Options{Seeds: 3, Mix: "none", CrashProbability: 0.5, Replicas: 2, CRDs: []string{"b"}}},
		"fifo":    {Options{Strategy: "fifo"}, Options{Seeds: 3, Strategy: "fifo", Replicas: 2, CRDs: []string{"a"}}},
	} {
		if got := merged(base, test.variant); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// Each variant is a subtest, in the order of their names, with a run per seed.
func TestMatrixRunsEachVariant(t *testing.T) {
	var ran []string
	t.Run("variants", func(t *testing.T) {
		Matrix(t, Options{Seeds: 2, Mix: "none"}, map[string]Options{"one replica": {Replicas: 1}, "a storm": {Mix: "storm", Seeds: 1}}, func(env *Env) {
			ran = append(ran, env.w.r.t.Name())
			env.Settle()
		})
	})
	const all = "TestMatrixRunsEachVariant/variants/"
	if want := []string{all + "a_storm", all + "one_replica", all + "one_replica"}; !reflect.DeepEqual(ran, want) {
		t.Errorf("the runs were of %v, want %v", ran, want)
	}
}
