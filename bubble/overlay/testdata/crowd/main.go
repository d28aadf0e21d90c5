// Command crowd prints in how many orders crowds of goroutines run in bubbles of one seed: those that a channel wakes and that give way, and
// those whose timers are due at the same instant. What is not in a bubble runs in between. With an argument the bubbles are interleaved.
package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	_ "unsafe" // for go:linkname
)

//go:linkname bubbleSeed runtime.bubbleSeed
var bubbleSeed uint64

//go:linkname bubbleInterleave runtime.bubbleInterleave
var bubbleInterleave bool

// order returns a hash of the order in which goroutines run.
func order(crowd int) uint64 {
	h := fnv.New64a()
	var mu sync.Mutex
	say := func(i, round int) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(h, i, round)
	}
	begin := make(chan bool)
	for i := range crowd {
		go func() {
			<-begin
			for round := range 3 {
				say(i, round)
				runtime.Gosched()
			}
			time.Sleep(time.Second)
			say(i, -1)
		}()
	}
	synctest.Wait()
	close(begin)
	time.Sleep(2 * time.Second)
	synctest.Wait()
	return h.Sum64()
}

func main() {
	runtime.GOMAXPROCS(1)
	bubbleInterleave = len(os.Args) > 1
	testing.Init()
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "crowd", F: func(t *testing.T) {
		for _, crowd := range []int{100, 300, 1000, 5000} {
			orders := map[uint64]bool{}
			for n := range 10 {
				for range n * 7 {
					runtime.Gosched() // moves the scheduler's clock
				}
				runtime.GC()
				bubbleSeed = 1
				synctest.Test(t, func(*testing.T) { orders[order(crowd)] = true })
			}
			fmt.Println(crowd, len(orders))
		}
	}}}, nil, nil)
}
