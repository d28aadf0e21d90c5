package simtest

import (
	"strings"
	_ "unsafe" // for the name of client-go's variable
)

// mutationDetectionEnabled is client-go's own: it says whether an informer that is made gets a detector of changes to what it holds. Otherwise only the environment
// decides, for a whole process and before the first line of a test (KUBE_CACHE_MUTATION_DETECTOR), and each virtual second of each run would pay for it.
// TestMutatedCachesAreFound, and its like for each release in simtest/versions, fail where client-go has it no more.
//
//go:linkname mutationDetectionEnabled k8s.io/client-go/tools/cache.mutationDetectionEnabled
var mutationDetectionEnabled bool

// detectMutations has the informers that are made from now on watch what they hold, until restore is called. Who has asked for it in the environment has it in all
// runs.
func detectMutations(on bool) (restore func()) {
	was := mutationDetectionEnabled
	mutationDetectionEnabled = was || on
	return func() { mutationDetectionEnabled = was }
}

// announcesDetector reports whether client-go logs that an informer has a detector, which is no news of the program.
func announcesDetector(line string) bool {
	return strings.Contains(line, "Mutation detector is enabled")
}
