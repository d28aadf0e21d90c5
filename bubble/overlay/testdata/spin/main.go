// Command spin prints what becomes of goroutines that ask again and again for what another goroutine of their bubble is about to do, as client-go's event
// broadcaster does when it ends, in place of waiting for it.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

func main() {
	runtime.GOMAXPROCS(1)
	testing.Init()
	all := func(string, string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "spin", F: func(t *testing.T) { synctest.Test(t, spin) }}}, nil, nil)
}

func spin(*testing.T) {
	for _, test := range []struct {
		name string
		ask  func() (await func(), done func())
	}{
		{"a channel that is closed", func() (func(), func()) {
			closed, done := make(chan int), make(chan int)
			close(closed)
			return func() {
				for {
					select {
					case <-done:
						return
					case <-closed:
					}
				}
			}, func() { close(done) }
		}},
		{"a default", func() (func(), func()) {
			done := make(chan int)
			return func() {
				for {
					select {
					case <-done:
						return
					default:
					}
				}
			}, func() { close(done) }
		}},
		{"a lock", func() (func(), func()) {
			s := &struct {
				sync.Mutex
				done bool
			}{}
			return func() {
				for done := false; !done; {
					s.Lock()
					done = s.done
					s.Unlock()
				}
			}, func() { s.Lock(); s.done = true; s.Unlock() }
		}},
	} {
		await, done := test.ask()
		asked := make(chan int)
		go func() {
			go done()
			await()
			close(asked)
		}()
		<-asked
		fmt.Println(test.name + ": it has seen it")
	}
}
