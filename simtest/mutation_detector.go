package simtest

import (
	"reflect"
	"strings"
	_ "unsafe" // for the name of client-go's variable

	"k8s.io/apimachinery/pkg/runtime"
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

// canCompare reports whether client-go's detector can compare the objects of a scheme. It cannot if one is a message of protobuf's second API for Go, as all of Istio's are: a message
// notes in itself, in fields that are its own, that it was read. To the detector the object has changed then, and printing the difference follows the note to the descriptors of all
// messages that there are, which takes minutes.
func canCompare(scheme *runtime.Scheme) bool {
	if scheme == nil {
		return true
	}
	for _, t := range scheme.AllKnownTypes() {
		for n := range t.NumField() {
			field := t.Field(n).Type
			if field.Kind() != reflect.Pointer {
				field = reflect.PointerTo(field)
			}
			if _, is := field.MethodByName("ProtoReflect"); is {
				return false
			}
		}
	}
	return true
}
