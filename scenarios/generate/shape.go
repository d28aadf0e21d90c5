package generate

// shape is what is particular about a scenario: which actions it is made of, and how many objects they are about. Scenarios that are all
// alike find what is easy again and again; one without settles, or with a single object, finds what the others hide (swarm testing:
// Groce, Zhang, Eide, Chen and Regehr, ISSTA 2012).
type shape struct {
	namespaces, names []string
	times             map[string]int // by action: a factor of its weight; 1 where there is none
	together          bool           // three informers watch one resource on one replica
}

// Objects come from few names, so that they are deleted and made again.
var (
	namespaces  = []string{"default", "other"}
	objectNames = []string{"a", "b", "c", "d", "e"}
)

// emphases are kinds of workloads, each by what it has more of, or less.
var emphases = []map[string]int{
	{}, // none
	{"create": 4, "delete": 4, "recreate": 2, "settle": 2}, // churn
	{"delete": 5, "gap": 2},                                // deletions
	{"recreate": 6, "gap": 2},                              // recreations
	{"relabel": 6},                                         // objects enter and leave selections
	{"gap": 6, "settle": 0, "step": 0, "stop": 0},          // changes that watches miss
	{"settle": 0, "advance": 0, "step": 0},                 // bursts
	{"hold": 3, "handle": 3, "release": 0},                 // slow parts
	{"worker": 6, "reconcile": 6, "write": 2, "shut-down": 4, "create": 2, "crowd": 2, "watch-fault": 0, "open-fault": 0, "list-fault": 0}, // controllers
	{"crowd": 5, "gap": 2},                  // full queues
	{"indexer": 8, "relabel": 4, "stop": 0}, // objects that move in indices
	{"handler": 4, "remove": 2, "remove-busy": 4, "advance": 2, "informer": 2, "hold": 2},                    // handlers come and go
	{"watch-fault": 4, "open-fault": 4, "list-fault": 4, "write-fault": 4, "replica-fault": 4, "compact": 4}, // outages
}

// evenly is the shape of a scenario without one.
func evenly() shape { return shape{namespaces: namespaces, names: objectNames} }

// drawShape draws the shape of a scenario with these actions. One of four has all of them.
func drawShape(src Source, actions []action) shape {
	s := evenly()
	if src.IntN(4) == 0 {
		return s
	}
	s.together = src.IntN(6) == 0
	s.names = objectNames[:pick(src, 1, 1, 2, 2, 3, 5)]
	s.namespaces = namespaces[:pick(src, 1, 1, 2)]
	s.times = map[string]int{}
	for _, a := range actions {
		s.times[a.name] = pick(src, 0, 1, 1, 2)
	}
	for name, times := range pick(src, emphases...) { // order: a map is filled
		s.times[name] = times
	}
	if s.times["create"] == 0 {
		s.times["create"] = 1 // most others need an object
	}
	return s
}

// weight is how often an action is taken, compared with the others.
func (s *shape) weight(a action) int {
	if times, ok := s.times[a.name]; ok {
		return a.weight * times
	}
	return a.weight
}
