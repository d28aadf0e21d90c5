package fault

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/sim"
)

func TestParseMix(t *testing.T) {
	for text, want := range map[string]string{
		"name: mine\nrates: {watch-eof: 0.5, list-410: 1}\nmax: 3": "",
		`{"name":"mine","rates":{"compact":0.25},"swarm":true}`:    "",
		"rates: {watch-eov: 0.1}":                                  `did you mean "watch-eof"`,
		"rates: {zebra-crossing-on-fire: 0.1}":                     "want one of watch-close",
		"rates: {watch-eof: 1.5}":                                  "between 0 and 1",
		"rates: {watch-eof: -1}":                                   "between 0 and 1",
		"rates: {watch-eof: .nan}":                                 "fault mix",
		"rates: {watch-eof: often}":                                "fault mix",
		"max: -1":                                                  "negative",
		"rate: {watch-eof: 0.1}":                                   `unknown field "rate"`,
		"[":                                                        "fault mix",
		"max: 1\n---\n":                                            "",
		"max: 1\n---\nmax: 2\n":                                    "something follows the first document",
		`{"max":1}{"max":2}`:                                       "something follows the first document",
		`{"max":1} x`:                                              "something follows the first document",
	} {
		m, err := ParseMix([]byte(text))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("ParseMix(%s) = %+v, %v; want an error with %q", text, m, err, want)
		}
	}
}

func TestMixNamed(t *testing.T) {
	for _, m := range Mixes() {
		got, err := MixNamed(m.Name)
		if err != nil || got.Validate() != nil || fmt.Sprint(got) != fmt.Sprint(m) {
			t.Errorf("%s: %+v, %v, %v", m.Name, got, err, got.Validate())
		}
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(data), " " + string(data)} { // with a blank, it is read as YAML
			if got, err := ParseMix([]byte(text)); err != nil || fmt.Sprint(got) != fmt.Sprint(m) {
				t.Errorf("%s: %+v, %v", text, got, err)
			}
		}
	}
	for name, want := range map[string]string{"defualt": `did you mean "default"`, "hurricane": "none, light, default, storm, edges"} {
		if _, err := MixNamed(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A swarm draws a different mix for each seed, and the same one for the same seed.
func TestSwarm(t *testing.T) {
	m, err := MixNamed("storm")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	drawn := map[Kind]bool{}
	for seed := range uint64(50) {
		d := m.Draw(seed)
		if fmt.Sprint(d) != fmt.Sprint(m.Draw(seed)) {
			t.Fatalf("seed %d draws two mixes", seed)
		}
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(d)] = true
		for _, k := range d.Kinds() {
			drawn[k] = true
		}
	}
	var common []Kind
	for _, s := range Specs() {
		if s.Tier == Everyday {
			common = append(common, s.Kind)
		}
	}
	if len(seen) < 40 || len(drawn) != len(common) {
		t.Errorf("50 seeds draw %d mixes of %d kinds, want at least 40 of all %d common kinds", len(seen), len(drawn), len(common))
	}
	for _, k := range common {
		kind, ok := sim.KindByName(string(k))
		if !ok || kind.Class() != sim.ClassFault || m.Rate(kind) <= 0 {
			t.Errorf("%s is not a kind of choice with a rate", k)
		}
	}
	if m.Rate(sim.RegisterKind("no-fault", sim.ClassAction)) != 0 {
		t.Error("a kind that is not a fault has a rate")
	}
}

// The kinds of a broken server are in no built-in mix, and can be requested by name.
func TestBrokenKindsOnlyWhenAsked(t *testing.T) {
	var tiers []Tier
	var broken []Kind
	for _, s := range Specs() {
		tiers = append(tiers, s.Tier)
		if s.Tier == Broken {
			broken = append(broken, s.Kind)
		}
	}
	if len(broken) != 10 || len(tiers) != numKinds || !slices.IsSorted(tiers) {
		t.Fatalf("the broken kinds are %v of %d, the tiers %v", broken, len(tiers), tiers)
	}
	for _, m := range Mixes() {
		for _, k := range broken {
			if m.Rates[string(k)] != 0 {
				t.Errorf("mix %s has %s", m.Name, k)
			}
		}
	}
	if _, err := ParseMix([]byte("rates: {watch-drop: 0.1}")); err != nil {
		t.Error(err)
	}
}
