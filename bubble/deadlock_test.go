package bubble

import (
	"testing"
	"time"
)

func TestDeadlockOfLocks(t *testing.T) {
	lock := Goroutine{State: "sync.Mutex.Lock", At: "x.a (x.go:1)"}
	read := Goroutine{State: "sync.RWMutex.RLock", At: "x.b (x.go:2)"}
	runs := Goroutine{State: "runnable", At: "x.c (x.go:3)"}
	reads := Goroutine{State: "IO wait", At: "x.d (x.go:4)"}
	for name, test := range map[string]struct {
		looks [][]Goroutine
		want  bool
	}{
		"the same goroutines wait for locks":     {[][]Goroutine{{lock, read}, {read, lock}, {lock, read}}, true},
		"not for long enough":                    {[][]Goroutine{{lock}, {lock}}, false},
		"one runs, and may have the lock":        {[][]Goroutine{{lock, runs}, {lock, runs}, {lock, runs}}, false},
		"one waits for what is outside":          {[][]Goroutine{{lock, reads}, {lock, reads}, {lock, reads}}, false},
		"others wait each time: the lock is had": {[][]Goroutine{{lock}, {read}, {lock}, {read}}, false},
		"one ran in between":                     {[][]Goroutine{{lock}, {lock}, {lock, runs}, {lock}}, false},
		"no goroutine can be told apart":         {[][]Goroutine{nil, nil, nil}, false},
	} {
		d := deadlock{every: lockCheck}
		got, now := false, time.Unix(1, 0)
		for _, gs := range test.looks {
			now = now.Add(lockCheck)
			got = d.look(now, func() []Goroutine { return gs })
			if d.look(now.Add(lockCheck/2), func() []Goroutine { return gs }) {
				t.Errorf("%s: a look came too soon", name)
			}
		}
		if got != test.want {
			t.Errorf("%s: deadlocked: %v, want %v", name, got, test.want)
		}
	}
}
