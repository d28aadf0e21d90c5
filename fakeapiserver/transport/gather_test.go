package transport

import (
	"testing"
	"time"
)

// Few streams never wait; many all wait for the same moment; once idle, they are few again.
func TestManyBusyStreamsWait(t *testing.T) {
	var g gatherer
	counted := make([]int64, 1000)
	at := lately
	write := func(stream int) (wait time.Duration) {
		counted[stream], wait = g.count(counted[stream], at)
		return wait
	}
	for range 1000 {
		if wait := write(0); wait != 0 {
			t.Fatalf("a single stream waits %v", wait)
		}
		at += lately / 5000
	}
	for i := range counted {
		write(i)
	}
	next := at + write(0)
	at += time.Millisecond
	if wait := write(1); at+wait != next || wait > gatherMax || wait <= 0 {
		t.Errorf("one of a thousand resumes at %v, another at %v, now is %v", next, at+wait, at)
	}
	for range 3 { // windows in which they are all busy
		at += lately
		if wait := write(0); wait <= 0 {
			t.Error("a busy stream does not wait at the beginning of a window")
		}
		for i := range counted {
			write(i)
		}
	}
	at += 2 * lately
	if wait := write(7); wait != 0 {
		t.Errorf("a stream waits %v after all were idle", wait)
	}
}
