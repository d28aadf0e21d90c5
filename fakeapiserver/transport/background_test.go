package transport

import (
	"slices"
	"sync"
	"testing"
)

// direct is a Driver without a kernel.
type direct struct{ mu sync.Mutex }

func (d *direct) Do(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// Work runs in the order in which it came, one after the other, and outside of steps: a step can go on while it runs.
func TestBackgroundRunsInOrder(t *testing.T) {
	d := &direct{}
	b := &Background{Driver: d}
	const n = 100
	var got, want []int
	release, done := make(chan struct{}), make(chan struct{})
	d.Do(func() {
		for i := range n {
			want = append(want, i, -i)
			b.Run(func() {
				if i == 0 {
					<-release
				}
				got = append(got, i)
			}, func() {
				if got = append(got, -i); i == n-1 {
					close(done)
				}
			})
		}
	})
	d.Do(func() { close(release) }) // the first work does not hold up this step
	<-done
	if !slices.Equal(got, want) {
		t.Errorf("the order is %v", got)
	}
	again := make(chan struct{})
	b.Run(func() {}, func() { close(again) }) // after an idle time
	<-again
}
