package fakeserver

import "testing"

// BenchmarkCheck is a round of requests to a small server, which ServerAgrees makes at the ends of runs, and its parts.
func BenchmarkCheck(b *testing.B) {
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for n := range b.N {
			Check(uint64(n))
		}
	})
	b.Run("only=requests", func(b *testing.B) {
		b.ReportAllocs()
		for n := range b.N {
			requests(uint64(n))
		}
	})
}
