// Command open prints what Go leaves open, in bubbles with the seeds 1, 1, 2 and 2: the order of maps, of ready cases, of
// goroutines that a context wakes, of timers of one instant, and what math/rand/v2 draws.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	_ "unsafe" // for go:linkname
)

//go:linkname bubbleSeed runtime.bubbleSeed
var bubbleSeed uint64

// A map that is older than every bubble.
var old = func() map[string]int {
	m := map[string]int{}
	for i := range 50 {
		m[fmt.Sprint("old", i)] = i
	}
	return m
}()

var once sync.Once

func open() string {
	var b strings.Builder
	m, small := map[string]int{}, map[string]int{"a": 1, "b": 2, "c": 3}
	for i := range 20 {
		m[fmt.Sprint("key", i)] = i
	}
	once.Do(func() {
		for range old { // done in the first bubble only, this must not shift later draws
			_ = map[int]bool{1: true}
		}
	})
	for _, m := range []map[string]int{m, small, old} {
		for k := range m {
			b.WriteString(k + ",")
		}
	}
	cs := make([]chan int, 3)
	for i := range cs {
		cs[i] = make(chan int, 100)
		for range 100 {
			cs[i] <- i
		}
	}
	for range 20 {
		select {
		case x := <-cs[0]:
			fmt.Fprint(&b, x)
		case x := <-cs[1]:
			fmt.Fprint(&b, x)
		case x := <-cs[2]:
			fmt.Fprint(&b, x)
		}
	}
	fmt.Fprint(&b, " ", rand.IntN(1000), " ")

	var mu sync.Mutex
	say := func(x any) { mu.Lock(); fmt.Fprint(&b, x, " "); mu.Unlock() }
	ctx, cancel := context.WithCancel(context.Background())
	for i := range 20 {
		time.AfterFunc(time.Second, func() { say(i) })
		context.AfterFunc(ctx, func() { say(-i) })
		go func() { time.Sleep(time.Second); say(100 + i) }()
	}
	time.Sleep(2 * time.Second)
	cancel()
	synctest.Wait()
	return b.String()
}

func main() {
	runtime.GOMAXPROCS(1)
	testing.Init()
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "open", F: func(t *testing.T) {
		for _, seed := range []uint64{1, 1, 2, 2} {
			bubbleSeed = seed
			synctest.Test(t, func(*testing.T) { fmt.Println(seed, open()) })
		}
	}}}, nil, nil)
}
