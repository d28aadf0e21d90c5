// Command interleave prints, for the seeds 1, 1, 2, 2 and so on to 20, in what order goroutines synchronize and which updates are lost, in bubbles
// whose goroutines are interleaved; with the argument off, in bubbles where they are not.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	_ "unsafe" // for go:linkname
)

//go:linkname bubbleSeed runtime.bubbleSeed
var bubbleSeed uint64

//go:linkname bubbleInterleave runtime.bubbleInterleave
var bubbleInterleave bool

// What a process does once must not decide anything.
var (
	once   sync.Once
	mu     sync.Mutex
	filled bool
)

func firstOnly() {
	once.Do(func() {
		var own sync.Mutex
		inner := &own
		for range 20 {
			inner.Lock()
			inner.Unlock()
		}
	})
	mu.Lock()
	for fill := !filled; fill; fill = false {
		filled = true
		mu.Unlock()
		for range 20 {
			mu.Lock()
			mu.Unlock()
		}
		mu.Lock()
	}
	mu.Unlock()
}

// order returns the order in which goroutines come to each of the ways to synchronize.
func order() string {
	var b strings.Builder
	var said sync.Mutex
	say := func(x any) { said.Lock(); fmt.Fprint(&b, x); said.Unlock() }
	var rw sync.RWMutex
	var group sync.WaitGroup
	ready := sync.NewCond(&sync.Mutex{})
	begun := false
	c := make(chan int, 3)
	for i := range 3 {
		group.Go(func() {
			firstOnly()
			rw.RLock()
			say(i)
			rw.RUnlock()
			select {
			case c <- i:
			default:
			}
			rw.Lock()
			say(3 + i)
			rw.Unlock()
			ready.L.Lock()
			for !begun {
				ready.Wait()
			}
			ready.L.Unlock()
			time.Sleep(time.Second)
			say(6 + <-c)
		})
	}
	synctest.Wait()
	ready.L.Lock()
	begun = true
	ready.L.Unlock()
	ready.Broadcast()
	group.Wait()
	return b.String()
}

// lost returns how many updates are lost between two locks, and checks that a lock alone loses none.
func lost() int {
	var mu sync.Mutex
	var group sync.WaitGroup
	n, sure := 0, 0
	get := func() int { mu.Lock(); defer mu.Unlock(); return n }
	set := func(x int) { mu.Lock(); defer mu.Unlock(); n = x; sure++ }
	for range 4 {
		group.Go(func() {
			for range 5 {
				set(get() + 1)
			}
		})
	}
	group.Wait()
	if sure != 20 {
		panic("a lock does not hold")
	}
	return 20 - n
}

// rest returns whether Wait waits for goroutines that have given way, of which some spin.
func rest() bool {
	var done, stop atomic.Int64
	var mu sync.Mutex
	for range 5 {
		go func() {
			for range 50 {
				mu.Lock()
				mu.Unlock()
			}
			done.Add(1)
		}()
	}
	go func() {
		for stop.Load() == 0 {
			runtime.Gosched()
		}
	}()
	go func() {
		for range 50 {
			mu.Lock()
			mu.Unlock()
		}
		stop.Store(1)
	}()
	synctest.Wait()
	return done.Load() == 5
}

func main() {
	runtime.GOMAXPROCS(1)
	bubbleInterleave = len(os.Args) == 1
	testing.Init()
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "interleave", F: func(t *testing.T) {
		for n := range 40 {
			bubbleSeed = uint64(n/2) + 1
			synctest.Test(t, func(*testing.T) {
				drawn := fmt.Sprint(rand.IntN(1000), rand.IntN(1000)) // by no goroutine but this one
				fmt.Println(bubbleSeed, order(), lost(), rest(), drawn)
			})
		}
	}}}, nil, nil)
}
