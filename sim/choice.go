package sim

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// ActorID identifies an actor within its kernel: its position in the order of registration, which is part of the canonical
// order.
type ActorID uint32

// Kind says what a choice does or what a record reports. Kinds are registered by name when the program starts; their numbers
// may differ between programs, so hashes and traces use the names.
type Kind uint16

// Class tells strategies how to treat a kind of choice.
type Class uint8

const (
	// ClassAction is a step of the system under test or of the server: it happens eventually.
	ClassAction Class = iota
	// ClassScript is the next line of a scenario: `fifo` prefers it to everything else, so that a transcript reads in order.
	ClassScript
	// ClassFault is a fault: it may happen, but never has to.
	ClassFault
	// ClassTime moves the clock.
	ClassTime
	// ClassRecord is the kind of a record, which cannot be offered.
	ClassRecord
)

// A Choice is one thing that may happen next. It is a small value without pointers; names are looked up when it is printed.
// The canonical order of choices is (Actor, Seq), never arrival or map order.
type Choice struct {
	Actor  ActorID
	Kind   Kind
	Target uint32 // what the actor applies it to; the actor defines its meaning
	Seq    uint32 // counts the actor's offers, from 1
}

func (c Choice) order() uint64 { return uint64(c.Actor)<<32 | uint64(c.Seq) }

type kindInfo struct {
	name  string
	class Class
	hash  uint64
}

// The table of kinds is filled by package variables, before any kernel exists; the lock is for test packages that
// register kinds while other tests run.
var (
	kindMu    sync.Mutex
	kindTable = []kindInfo{{name: "none", class: ClassRecord, hash: xxhash.Sum64String("none")}}
	kindNames = map[string]Kind{"none": 0}
)

// RegisterKind returns the kind named name, adding it if it is new. It is meant for package variables. Registering a name
// with two classes panics: two packages would mean different things by it.
func RegisterKind(name string, class Class) Kind {
	if name == "" || !utf8.ValidString(name) {
		panic(fmt.Sprintf("sim: %q is not a valid name for a kind", name))
	}
	kindMu.Lock()
	defer kindMu.Unlock()
	if k, ok := kindNames[name]; ok {
		if kindTable[k].class != class {
			panic(fmt.Sprintf("sim: kind %q is registered twice, with classes %d and %d", name, kindTable[k].class, class))
		}
		return k
	}
	if len(kindTable) > 1<<16-1 {
		panic("sim: more than 65535 kinds")
	}
	k := Kind(len(kindTable))
	// A copy: kernels may still hold the old table.
	table := make([]kindInfo, len(kindTable)+1)
	copy(table, kindTable)
	table[k] = kindInfo{name: name, class: class, hash: xxhash.Sum64String(name)}
	kindTable = table
	kindNames[name] = k
	return k
}

// KindByName returns the kind registered as name.
func KindByName(name string) (Kind, bool) {
	kindMu.Lock()
	defer kindMu.Unlock()
	k, ok := kindNames[name]
	return k, ok
}

func kinds() []kindInfo {
	kindMu.Lock()
	defer kindMu.Unlock()
	return kindTable
}

// String returns the name the kind was registered with.
func (k Kind) String() string {
	if t := kinds(); int(k) < len(t) {
		return t[k].name
	}
	return fmt.Sprintf("kind(%d)", uint16(k))
}

// Class returns the class the kind was registered with.
func (k Kind) Class() Class {
	if t := kinds(); int(k) < len(t) {
		return t[k].class
	}
	return ClassRecord
}
