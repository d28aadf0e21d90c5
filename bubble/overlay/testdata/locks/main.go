// Command locks prints what goroutines of a bubble do with locks in package variables: first one of them has the lock while it sleeps, then a goroutine
// outside of the bubble has it for a moment of real time.
package main

import (
	"fmt"
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

//go:linkname bubbleLocksRest runtime.bubbleLocksRest
var bubbleLocksRest bool

var (
	mutex sync.Mutex
	both  sync.RWMutex
)

// tryLock is a lock that is acquired without Lock.
type tryLock struct {
	sync.Locker
	try func() bool
}

func (l tryLock) Lock() {
	if !l.try() {
		panic("it is not free")
	}
}

// inside returns when each waiter got a lock that another goroutine has for a second.
func inside(first sync.Locker, then ...sync.Locker) string {
	begin := time.Now()
	var said []string
	var mu sync.Mutex
	go func() {
		first.Lock()
		time.Sleep(time.Second)
		first.Unlock()
	}()
	synctest.Wait()
	for i, l := range then {
		go func() {
			l.Lock()
			time.Sleep(time.Second)
			mu.Lock()
			said = append(said, fmt.Sprint(i, " after ", time.Since(begin)))
			mu.Unlock()
			l.Unlock()
		}()
		synctest.Wait()
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	return strings.Join(said, ", ")
}

// outside reports whether a bubble rests while one of its goroutines waits for a lock that somebody else has.
func outside(t *testing.T, theirs, ours sync.Locker) (rests bool) {
	locked, go1 := make(chan bool), make(chan bool)
	go func() {
		theirs.Lock()
		close(locked)
		<-go1
		time.Sleep(20 * time.Millisecond)
		theirs.Unlock()
	}()
	<-locked
	synctest.Test(t, func(*testing.T) {
		got := false
		close(go1)
		go func() {
			ours.Lock()
			got = true
			ours.Unlock()
		}()
		synctest.Wait()
		rests = !got
	})
	return rests
}

func main() {
	runtime.GOMAXPROCS(1)
	bubbleSeed, bubbleLocksRest = 1, true
	testing.Init()
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "locks", F: func(t *testing.T) {
		say := func(what string, first sync.Locker, then ...sync.Locker) {
			synctest.Test(t, func(*testing.T) { fmt.Printf("%s: %s\n", what, inside(first, then...)) })
		}
		say("mutex", &mutex, &mutex, &mutex)
		say("tried mutex", tryLock{&mutex, mutex.TryLock}, &mutex)
		say("writer", &both, both.RLocker(), &both, both.RLocker())
		say("reader", both.RLocker(), &both, both.RLocker())
		say("tried reader", tryLock{both.RLocker(), both.TryRLock}, &both)
		say("tried writer", tryLock{&both, both.TryLock}, both.RLocker())
		fmt.Println("a mutex of others:", outside(t, &mutex, &mutex))
		fmt.Println("a writer of others:", outside(t, &both, both.RLocker()), outside(t, &both, &both))
		fmt.Println("a reader of others:", outside(t, both.RLocker(), &both))
	}}}, nil, nil)
}
