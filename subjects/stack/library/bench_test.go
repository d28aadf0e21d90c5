package library

import "testing"

// BenchmarkCheck is a round of calls about each part, which LibraryAgrees makes at the ends of runs.
func BenchmarkCheck(b *testing.B) {
	for n, of := range checks {
		b.Run(of.part, func(b *testing.B) {
			for i := range b.N {
				Check(uint64(i*len(checks) + n))
			}
		})
	}
}
