// Command next prints when the next timer of a bubble is due, with several timers, and after each step to it.
package main

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
	_ "unsafe" // for go:linkname
)

//go:linkname bubbleNext runtime.bubbleNext
var bubbleNext func() int64

func main() {
	fmt.Println("outside:", bubbleNext())
	all := func(string, string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "next", F: func(t *testing.T) { synctest.Test(t, next) }}}, nil, nil)
}

func next(*testing.T) {
	began := time.Now()
	show := func(what string) { fmt.Printf("%s at %v: %v\n", what, time.Since(began), time.Duration(bubbleNext())) }
	show("none")
	fired := 0
	time.AfterFunc(5*time.Second, func() { fired++ })
	go time.Sleep(3 * time.Second)
	synctest.Wait()
	show("asleep")
	time.Sleep(time.Duration(bubbleNext()))
	synctest.Wait()
	show("awake")
	time.Sleep(time.Duration(bubbleNext()))
	synctest.Wait()
	show(fmt.Sprintf("%d fired", fired))
	ticker := time.NewTicker(time.Minute)
	go func() {
		for range 2 {
			<-ticker.C
		}
	}()
	synctest.Wait()
	show("ticking")
	time.Sleep(90 * time.Second)
	synctest.Wait()
	show("ticked")
	time.Sleep(time.Minute) // the last tick
}
