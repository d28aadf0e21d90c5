package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/informersim/informersim/sim"
)

// The rates of the built-in mixes are multiples of these. Requests can be hit for a few steps only, watches for most of a run,
// so their rates differ.
var baseRates = map[Kind]float64{
	WatchClose: 1, WatchEOF: 1, WatchReset: 1, WatchStall: 0.25, WatchHalfOpen: 0.25, WatchDelay: 1.5, Watch410: 0.75, Watch500: 0.5,
	List410: 8, List429: 4, List500: 4, List503: 4, List504: 4, ListLost: 4, ListReset: 4, ListStale: 8,
	WatchOpen429: 4, WatchOpen500: 4, WatchOpen503: 4, WatchOpen504: 4, WatchOpenRefused: 4,
	Write429: 4, Write500: 4, Write503: 4, Write504: 4, WriteLost: 8, WriteReset: 8,
	Compact: 1, ReplicaRestart: 0.25, ReplicaLag: 1.5,
}

// rareRates are the additional rates of `edges`.
var rareRates = map[Kind]float64{
	WatchSlow: 0.5, WatchEOFInFrame: 1, WatchCutLength: 0.5, WatchBookmarkLost: 1, WatchBookmarkLate: 1, WatchBookmarkEarly: 8,
	ListTooLarge: 8, ListRefused: 4, ListResetHeaders: 4, ListSlow: 8,
	WatchOpenTooLarge: 8, WatchOpenStale: 8, WatchOpenLost: 4, WatchOpenResetHeader: 4, WatchOpenSlow: 8,
	WriteRefused: 4, WriteResetHeaders: 8, WriteSlow: 8, WriteLate: 8,
	LeaderLoss: 0.25, ReplicaSkew: 0.25,
}

func builtInMix(name string, unit float64, swarm bool, rates ...map[Kind]float64) Mix {
	m := Mix{Name: name, Rates: map[string]float64{}, Swarm: swarm}
	for _, group := range rates {
		for kind, times := range group { // order: a map is filled
			m.Rates[string(kind)] = min(1, unit*times)
		}
	}
	return m
}

// Mixes returns the built-in mixes: none, light, default, storm, and edges, which adds the rarer kinds.
func Mixes() []Mix {
	return []Mix{
		builtInMix("none", 0, false),
		builtInMix("light", 1.0/1024, false, baseRates),
		builtInMix("default", 1.0/256, true, baseRates),
		builtInMix("storm", 1.0/32, true, baseRates),
		builtInMix("edges", 1.0/128, true, baseRates, rareRates),
	}
}

// MixNamed returns the built-in mix of that name.
func MixNamed(name string) (Mix, error) {
	var names []string
	near, distance := "", 3
	for _, m := range Mixes() {
		if m.Name == name {
			return m, nil
		}
		if d := editDistance(name, m.Name); d < distance {
			near, distance = m.Name, d
		}
		names = append(names, m.Name)
	}
	if near != "" {
		return Mix{}, fmt.Errorf("there is no fault mix %q: did you mean %q?", name, near)
	}
	return Mix{}, fmt.Errorf("there is no fault mix %q: want one of %s, or a file", name, strings.Join(names, ", "))
}

// ParseMix reads a mix from YAML or JSON:
//
//	name: mine
//	rates: {watch-eof: 0.01, list-410: 0.1}
//	swarm: true
//	max: 20
func ParseMix(data []byte) (Mix, error) {
	var m Mix
	if !written(&m, data) { // as it is in a run's header; reading YAML takes as long as some steps
		m = Mix{}
		if err := readDocument(data, &m); err != nil {
			return Mix{}, fmt.Errorf("fault mix: %w; write it like {name: mine, rates: {watch-eof: 0.01}, swarm: true, max: 20}", err)
		}
	}
	if err := m.Validate(); err != nil {
		return Mix{}, err
	}
	return m, nil
}

// written reads what json.Marshal has made of a mix, and reports whether data is that, byte by byte.
func written(m *Mix, data []byte) bool {
	if json.Unmarshal(data, m) != nil {
		return false
	}
	again, err := json.Marshal(m)
	return err == nil && bytes.Equal(again, data)
}

// Validate fails if the mix has an unknown kind, a rate out of [0,1] or a negative maximum.
func (m Mix) Validate() error {
	kinds := make([]string, 0, len(m.Rates))
	for k := range m.Rates { // order: sorted below
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	for _, k := range kinds {
		if _, err := ParseKind(k); err != nil {
			return fmt.Errorf("fault mix %q: rates: %w", m.Name, err)
		}
		if r := m.Rates[k]; math.IsNaN(r) || r < 0 || r > 1 {
			return fmt.Errorf("fault mix %q: rates: %s is %v: a rate is a probability between 0 and 1", m.Name, k, r)
		}
	}
	if m.Max < 0 {
		return fmt.Errorf("fault mix %q: max is %d: it must not be negative", m.Name, m.Max)
	}
	return nil
}

// Draw returns the mix of the run with that seed: m itself, unless it is a swarm.
func (m Mix) Draw(seed uint64) Mix {
	if !m.Swarm {
		return m
	}
	s := sim.NewStream(seed, "fault-mix")
	drawn := Mix{Name: m.Name, Max: m.Max, Rates: map[string]float64{}}
	for i := range table {
		if table[i].Tier == Others {
			continue // drawAdded
		}
		// Two draws for every kind, whatever its rate, so that changing one rate changes no other draw.
		on, power := s.IntN(2) == 1, s.IntN(5)-2
		name := string(table[i].Kind)
		if rate := m.Rates[name]; on && rate > 0 {
			drawn.Rates[name] = min(1, math.Ldexp(rate, power))
		}
	}
	m.drawAdded(drawn, func() (bool, int) { return s.IntN(2) == 1, s.IntN(5) - 2 })
	return drawn
}

// Kinds returns the kinds that may happen, for ClusterOptions.Faults.
func (m Mix) Kinds() []Kind {
	var kinds []Kind
	for i := range table {
		if m.Rates[string(table[i].Kind)] > 0 {
			kinds = append(kinds, table[i].Kind)
		}
	}
	return kinds
}

// Rate returns the probability of a kind of choice per step, for sim.NewRandom.
func (m Mix) Rate(k sim.Kind) float64 {
	s := SpecOfChoice(k)
	if s == nil {
		for _, w := range webhookKinds {
			if w.choice == k {
				return m.Rates[string(w.kind)]
			}
		}
		return 0
	}
	return m.Rates[string(s.Kind)]
}
