package fault

// Mix says which faults the strategy may pick, and how often.
type Mix struct {
	Name string `json:"name"`
	// Rates is the probability of each kind, by name, at every step that offers it.
	Rates map[string]float64 `json:"rates"`
	// Swarm makes each run draw which kinds are on, and a factor for the rate of each. Runs with different mixes find more
	// than runs with the same one.
	Swarm bool `json:"swarm,omitempty"`
	// Max limits the number of faults in a run; 0 for no limit.
	Max int `json:"max,omitempty"`
}
