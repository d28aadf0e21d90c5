package clients

import (
	"slices"
	"testing"
	"time"
)

// short bounds a wait for what should come, where it is known that it does not. What does come takes a fraction of it.
const short = 5 * time.Second

// bug is one of a released client: a scenario that says whether it shows.
type bug struct {
	name string
	// in are the releases that have it. The others are shown not to.
	in []string
	// restart is how the program's handler of errors restarts the informer.
	restart string
	shows   func(t *testing.T, s *server, c *client) bool
}

var (
	every = []string{"client-node-1.4.0", "client-node-2.0.1"}
	first = []string{"client-node-1.4.0"}
)

// bugs are those of docs/findings.md.
var bugs = []bug{
	{name: "a watch that stands still stays", in: first, restart: "never", shows: staysWithStalledWatch}, // first, as it takes longest
	{name: "a failed request ends it", in: every, restart: "never", shows: endsWithRequest},
	{name: "a connection that is reset ends it", in: every, restart: "never", shows: endsWithConnection},
	{name: "stop is an error, which starts it again", in: every, restart: "50", shows: startsWhenStopped},
	{name: "stop does not end a list", in: every, restart: "never", shows: watchesWhenStopped},
	{name: "an object changes its type", in: every, restart: "50", shows: changesType},
	{name: "an error event is silent", in: every, restart: "never", shows: swallowsError},
	{name: "it says that it connects before it can", in: every, restart: "never", shows: connectsToNothing},
	{name: "watches that end at once are opened without a pause", in: first, restart: "never", shows: doesNotPause},
}

// Known bugs of releases. The test fails when one is gone, so that the list and docs/findings.md are mended with it.
func TestKnown(t *testing.T) {
	t.Parallel()
	for _, b := range bugs {
		for _, r := range releases {
			if r.module == "" {
				continue // it has no informer: what surrounds its watches is ours
			}
			t.Run(b.name+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				s := serve(t)
				c := r.start(t, s.url, b.restart)
				s.write("POST", "first", "1")
				known := slices.Contains(b.in, r.name)
				if shows := b.shows(t, s, c); shows != known {
					t.Errorf("known: %s: %s: it shows: %t; the list says %t. Mend the list here and in docs/findings.md", r.name, b.name, shows, known)
				}
			})
		}
	}
}

// begin starts the informer and waits until it has everything, and then sees a write, so that its watch is open.
func begin(t *testing.T, s *server, c *client) {
	t.Helper()
	c.do("start")
	if got, ok := c.until(bound, has(s.list())); !ok {
		t.Fatalf("it did not begin: %+v", got)
	}
	s.write("POST", "begun", "1")
	if got, ok := c.until(bound, has(s.list())); !ok {
		t.Fatalf("it did not begin to watch: %+v", got)
	}
}

// misses says whether the informer misses a write that comes now.
func misses(s *server, c *client, name string, bound time.Duration) bool {
	s.write("POST", name, "1")
	_, ok := c.until(bound, has(s.list()))
	return !ok
}

func failed(s state) bool { return len(s.Errors) > 0 }

// One 503 to a list.
func endsWithRequest(t *testing.T, s *server, c *client) bool {
	s.fault("list-503", 1)
	c.do("start")
	if got, ok := c.until(bound, failed); !ok {
		t.Fatalf("the list did not fail: %+v", got)
	}
	return misses(s, c, "missed", short)
}

// One reset of a watch.
func endsWithConnection(t *testing.T, s *server, c *client) bool {
	begin(t, s, c)
	s.fault("watch-reset", 1)
	if got, ok := c.until(bound, failed); !ok {
		t.Fatalf("the watch did not end: %+v", got)
	}
	return misses(s, c, "missed", short)
}

// No fault: stop, while the handler of errors is that of the documentation. Stopping aborts the watch, which is an error.
func startsWhenStopped(t *testing.T, s *server, c *client) bool {
	begin(t, s, c)
	c.do("stop")
	if _, ok := c.until(short, failed); !ok {
		return false
	}
	return !misses(s, c, "unwanted", bound)
}

// No fault: stop comes while the first list is under way. The informer takes its answer, and watches all the same.
func watchesWhenStopped(t *testing.T, s *server, c *client) bool {
	c.do("start\nstop") // both in one write, which the program reads before any answer
	return !misses(s, c, "unwanted", bound)
}

// No fault: what a list has brought has a Date as its creation time, as the types say; what a watch has brought has a string.
func changesType(t *testing.T, s *server, c *client) bool {
	begin(t, s, c)
	objects := c.state().Objects
	return objects["first"].Created == "Date" && objects["begun"].Created == "String"
}

// One ERROR event that is not a 410: nobody is told.
func swallowsError(t *testing.T, s *server, c *client) bool {
	begin(t, s, c)
	connects := c.state().Seen.Connect
	s.fault("watch-500", 1)
	got, ok := c.until(bound, func(s state) bool { return failed(s) || s.Seen.Connect > connects })
	if !ok {
		t.Fatalf("the watch did not end: %+v", got)
	}
	return !failed(got)
}

// One list that is refused: the informer says before it that it has connected, and the cache is empty.
func connectsToNothing(t *testing.T, s *server, c *client) bool {
	s.fault("list-reset", 1)
	c.do("start")
	got, ok := c.until(bound, failed)
	if !ok {
		t.Fatalf("the list did not fail: %+v", got)
	}
	return got.Seen.Connect > 0
}

// A server that ends watches cleanly, forty times. With pauses that double from a second to half a minute, that would take a quarter of an hour.
func doesNotPause(t *testing.T, s *server, c *client) bool {
	begin(t, s, c)
	before := c.state().Seen.Connect
	s.fault("watch-close", 40)
	_, ok := c.until(bound/4, func(s state) bool { return s.Seen.Connect >= before+40 })
	return ok
}

// A watch that stands still. Both releases mean to give up on it after 30 seconds, but the first replaces the signal that would.
func staysWithStalledWatch(t *testing.T, s *server, c *client) bool {
	begin(t, s, c)
	s.fault("watch-stall", 1)
	return misses(s, c, "missed", 40*time.Second)
}
