package builtin

import "testing"

// Making the resources is what the start of a server pays for them.
func BenchmarkResources(b *testing.B) {
	for b.Loop() {
		if len(Resources(Options{})) == 0 {
			b.Fatal("no resources")
		}
	}
}

// A create of a Deployment: decoded, defaulted, admitted, validated, encoded and read back.
func BenchmarkCreateDeployment(b *testing.B) {
	s := serve(b, "deployments.apps", "v1")
	for b.Loop() {
		if _, err := s.create(deployment); err != nil {
			b.Fatal(err)
		}
	}
}
