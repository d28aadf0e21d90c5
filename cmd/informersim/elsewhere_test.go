package main

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
)

// deadlocking is client-go with a goroutine that waits for ever for a lock of a run's own, as soon as there is an informer.
var deadlocking = deadlocks("deadlocking", func(int) {
	var mu sync.Mutex
	mu.Lock()
	go func() { mu.Lock() }()
})

// deadlockingAll has a lock of the whole process, which a second informer does not give back.
var deadlockingAll = deadlocks("deadlocking-all", func(informers int) {
	if informers == 2 {
		all.Lock()
	}
	go func() {
		all.Lock()
		all.Unlock()
	}()
})

var all sync.Mutex

func deadlocks(name string, added func(informers int)) subjects.Kind {
	k := clientgo.Kind
	k.Name = name
	k.New = func(deps subjects.Dependencies) subjects.Subject { return &locked{clientgo.New(deps), added, 0} }
	return k
}

type locked struct {
	subjects.Subject
	added     func(informers int)
	informers int
}

func (l *locked) AddInformer(spec subjects.InformerSpec) (subjects.Informer, error) {
	l.informers++
	l.added(l.informers)
	return l.Subject.AddInformer(spec)
}

// A run that deadlocks is shrunk: others follow it in a process of their own, and the smallest is made once more in another one.
func TestShrinkDeadlocks(t *testing.T) {
	inTemp(t, map[string]string{
		"many.sim": "resource pods\nresource configmaps\ncreate pods default/a default/b\ninformer i1 pods\nsettle\ninformer i2 configmaps\nhandler i2 h1\nsettle\nupdate pods default/a\nsettle\n",
	})
	t.Setenv(asCommand, "deadlocks")
	withSubject(t, deadlocking)
	withSubject(t, deadlockingAll)
	got := command(t, "fuzz", "many.sim", "--subject", "deadlocking", "--seeds", "1..1", "--out", "out")
	if got.code != exitBroken || !strings.Contains(got.stdout, "no single command, argument or pick can be removed") {
		t.Fatalf("exit code %d:\n%s%s", got.code, got.stdout, got.stderr)
	}
	script, err := os.ReadFile(globbed(t, "out/findings/NoDeadlock-*/scenario.sim"))
	if want := "# NoDeadlock: the bubble does not become quiescent: these goroutines wait for locks, and none runs that could release one:\n# sync.Mutex.Lock in github.com/informersim/informersim/cmd/informersim."; err != nil ||
		!strings.HasPrefix(string(script), want) || !strings.Contains(string(script), "\ninformer i") || strings.Count(string(script), "\n") != 5 { // three lines say what is shown, two are left
		t.Errorf("%v: what is left is\n%s", err, script)
	}
	again := command(t, "fuzz", "many.sim", "--subject", "deadlocking-all", "--seeds", "1..1", "--out", "all")
	if again.code != exitBroken || !strings.Contains(again.stdout, "not shrunk: the smaller run deadlocked after others, and did not in a process of its own:") {
		t.Errorf("what a lock of the process's shows is taken for a finding: exit code %d:\n%s%s", again.code, again.stdout, again.stderr)
	}
}
