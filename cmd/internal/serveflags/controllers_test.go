package serveflags

import (
	"slices"
	"strings"
	"testing"
)

// Names, * and -NAME mean what they mean to kube-controller-manager, and nodes bring everything with them.
func TestEnabled(t *testing.T) {
	all := slices.Concat(OwnControllers, KubernetesControllers)
	for value, want := range map[string][]string{
		"namespace":              {"namespace"},
		"job,namespace,job":      {"namespace", "job"},
		"*":                      all,
		"-job,*":                 slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == "job" }),
		"deployment,-deployment": {},
		"-job":                   {},
	} {
		if got, err := Enabled(strings.Split(value, ",")); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", value, got, err, want)
		}
	}
	for args, want := range map[string]string{
		"":                         "namespace",
		"--nodes 1":                "*",
		"--nodes 1 --controllers=": "",
		"--controllers=job,-job":   "job,-job",
	} {
		f, err := parse(t, strings.Fields(args)...)
		if err != nil || strings.Join(f.Controllers, ",") != want {
			t.Errorf("%s: %+v, %v; want %q", args, f, err, want)
		}
	}
	_, err := Enabled([]string{"*", "-x"})
	if err == nil || !strings.HasPrefix(err.Error(), `there is no controller "x": there are namespace, garbage-collector, `) || !strings.HasSuffix(err.Error(), ", and * for all") {
		t.Error(err)
	}
}
