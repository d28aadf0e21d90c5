package sim

import "strings"

// names knows which actor has a name. Names and their parts have numbers, so that an actor's relatives are found without a look at text.
type names struct {
	numbers map[string]int32
	holders []ActorID // by number: the actor that has the name now, nobody for none
}

const nobody = ^ActorID(0)

// parts are the numbers of what is before the first slash of an actor's name, and of what is behind it; both are the name without one.
type parts struct{ first, rest int32 }

func newNames() names { return names{numbers: map[string]int32{}} }

func (n *names) number(name string) int32 {
	number, known := n.numbers[name]
	if !known {
		number = int32(len(n.holders))
		n.numbers[name], n.holders = number, append(n.holders, nobody)
	}
	return number
}

// add gives an actor its name.
func (n *names) add(name string, id ActorID) parts {
	number := n.number(name)
	n.holders[number] = id
	first, rest, split := strings.Cut(name, "/")
	if !split {
		return parts{number, number}
	}
	return parts{n.number(first), n.number(rest)}
}

// holder returns the actor that has the name with that number now.
func (n *names) holder(number int32) (ActorID, bool) {
	id := n.holders[number]
	return id, id != nobody
}

// actor returns the actor that has a name now.
func (n *names) actor(name string) (ActorID, bool) {
	if number, known := n.numbers[name]; known {
		return n.holder(number)
	}
	return 0, false
}
