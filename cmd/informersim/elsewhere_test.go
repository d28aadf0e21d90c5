package main

import (
	"os"
	"path/filepath"
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
	t.Parallel() // it waits for what shows that a run deadlocks
	folder := t.TempDir()
	many := "resource pods\nresource configmaps\ncreate pods default/a default/b\ninformer i1 pods\nsettle\ninformer i2 configmaps\nhandler i2 h1\nsettle\nupdate pods default/a\nsettle\n"
	if err := os.WriteFile(filepath.Join(folder, "many.sim"), []byte(many), 0o666); err != nil {
		t.Fatal(err)
	}
	fuzz := func(t *testing.T, subject, out string) (code int, said string) {
		c := process(t, "fuzz", "many.sim", "--subject", subject, "--seeds", "1..1", "--out", out)
		c.Dir, c.Env = folder, append(os.Environ(), asCommand+"=deadlocks")
		text, _ := c.CombinedOutput() // the exit code says it
		return c.ProcessState.ExitCode(), string(text)
	}
	t.Run("one run's lock", func(t *testing.T) {
		t.Parallel()
		code, said := fuzz(t, "deadlocking", "out")
		if code != exitBroken || !strings.Contains(said, "no single command, argument or pick can be removed") {
			t.Fatalf("exit code %d:\n%s", code, said)
		}
		script, err := os.ReadFile(globbed(t, filepath.Join(folder, "out/findings/NoDeadlock-*/scenario.sim")))
		if want := "# NoDeadlock: the bubble does not become quiescent: these goroutines wait for locks, and none runs that could release one:\n# sync.Mutex.Lock in github.com/informersim/informersim/cmd/informersim."; err != nil ||
			!strings.HasPrefix(string(script), want) || !strings.Contains(string(script), "\ninformer i") || strings.Count(string(script), "\n") != 5 { // three lines say what is shown, two are left
			t.Errorf("%v: what is left is\n%s", err, script)
		}
	})
	t.Run("the process's lock", func(t *testing.T) {
		t.Parallel()
		code, said := fuzz(t, "deadlocking-all", "all")
		if code != exitBroken || !strings.Contains(said, "not shrunk: the smaller run deadlocked after others, and did not in a process of its own:") {
			t.Errorf("what a lock of the process's shows is taken for a finding: exit code %d:\n%s", code, said)
		}
	})
}
