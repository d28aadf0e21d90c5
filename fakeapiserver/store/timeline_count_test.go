package store

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

// CountFrom agrees with Walk at every readable revision, with little history and with much.
func TestCountFromAgreesWithWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New(Options{})
		id, err := s.AddResource(podResource())
		if err != nil {
			t.Fatal(err)
		}
		namespaces := []string{"a", "a-b", "b"}
		put := func(namespace, name string) {
			obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			if _, err := s.Put(id, obj); err != nil {
				t.Fatal(err)
			}
		}
		if rapid.Bool().Draw(t, "many with a short history") {
			for _, namespace := range namespaces {
				for i := range 13 {
					put(namespace, fmt.Sprint(i))
				}
			}
			if err := s.Compact(s.revision); err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(0, 40).Draw(t, "writes") {
			namespace := rapid.SampledFrom(namespaces).Draw(t, "namespace")
			name := fmt.Sprint(rapid.IntRange(0, 12).Draw(t, "name"))
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2:
				if _, _, err := s.Delete(id, namespace, name); err != nil {
					t.Fatal(err)
				}
			case 3:
				if rev := rapid.Int64Range(s.compacted, s.revision).Draw(t, "compact"); rev > s.compacted {
					if err := s.Compact(rev); err != nil {
						t.Fatal(err)
					}
				}
			case 4:
				if err := s.Restore(rapid.Int64Range(s.compacted, s.revision).Draw(t, "restore"), 0); err != nil {
					t.Fatal(err)
				}
			default:
				put(namespace, name)
			}
		}
		tl := s.timelines[id]
		rev := rapid.Int64Range(s.compacted, s.revision).Draw(t, "rev")
		for _, namespace := range append(namespaces, "") {
			from := rapid.SampledFrom(namespaces).Draw(t, "from") + "/" + fmt.Sprint(rapid.IntRange(0, 12).Draw(t, "from name"))
			if namespace != "" {
				from = namespace + from[len(from)-2:]
			}
			want := int64(0)
			tl.Walk(rev, namespace, from, func(*Version) bool { want++; return true })
			if got := tl.CountFrom(rev, namespace, from); got != want {
				t.Fatalf("%d in %q from %q at %d, want %d; the store is at %d, compacted at %d", got, namespace, from, rev, want, s.revision, s.compacted)
			}
		}
	})
}
