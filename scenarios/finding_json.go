package scenarios

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/informersim/informersim/sim"
)

// Summary is a run as JSON: one object, one line. Times are virtual nanoseconds.
type Summary struct {
	Scenario      string            `json:"scenario"`
	Subject       string            `json:"subject"`
	Engine        string            `json:"engine"`
	Strategy      string            `json:"strategy"`
	Seed          uint64            `json:"seed"`
	Mix           string            `json:"faultMix,omitempty"`
	Passed        bool              `json:"passed"`
	Verdict       string            `json:"verdict"`
	Steps         uint64            `json:"steps"`
	VirtualNs     int64             `json:"virtualNs"`
	Hash          string            `json:"hash"`
	Commits       int               `json:"commits"`
	Requests      int               `json:"requests"`
	Frames        int               `json:"frames"`
	Notifications int               `json:"notifications"`
	Reconciles    int               `json:"reconciles"`
	Faults        []FaultCount      `json:"faults,omitempty"`
	Properties    []string          `json:"properties,omitempty"`
	Violation     *SummaryViolation `json:"violation,omitempty"`
	Mismatches    []SummaryMismatch `json:"mismatches,omitempty"`
	Replay        []string          `json:"replay,omitempty"`
}

// SummaryViolation is a broken property.
type SummaryViolation struct {
	Property string            `json:"property"`
	Step     uint64            `json:"step"`
	AtNs     int64             `json:"atNs"`
	Key      string            `json:"key,omitempty"`
	Message  string            `json:"message"`
	Because  []SummaryEvidence `json:"because,omitempty"`
}

// SummaryEvidence is one step of a proof.
type SummaryEvidence struct {
	Step uint64 `json:"step"`
	AtNs int64  `json:"atNs"`
	Text string `json:"text"`
}

// SummaryMismatch is an expectation of the transcript that was not met.
type SummaryMismatch struct {
	At       string `json:"at"`
	Message  string `json:"message,omitempty"`
	Expected string `json:"expected,omitempty"`
	Actual   string `json:"actual,omitempty"`
}

// WriteJSON renders a finding as one line of JSON.
func WriteJSON(w io.Writer, f Finding) error {
	r := f.Result
	s := Summary{
		Scenario: r.Scenario, Subject: r.Subject, Engine: r.Engine, Strategy: r.Strategy, Seed: r.Seed, Mix: r.Mix,
		Passed: r.Passed(), Verdict: r.Verdict(), Steps: r.Steps, VirtualNs: int64(r.Virtual), Hash: sim.FormatHash(r.Hash),
		Commits: r.Commits, Requests: r.Requests, Frames: r.Frames, Notifications: r.Notifications, Reconciles: r.Reconciles,
		Faults: r.Faults, Properties: r.Properties, Replay: f.Replay,
	}
	if v := r.Violation; v != nil {
		s.Violation = &SummaryViolation{Property: v.Property, Step: v.Step, AtNs: int64(v.At), Key: v.Key, Message: v.Message}
		for _, e := range v.Because {
			s.Violation.Because = append(s.Violation.Because, SummaryEvidence{e.Step, int64(e.At), e.Text})
		}
	}
	for _, m := range r.Mismatches {
		s.Mismatches = append(s.Mismatches, SummaryMismatch{At: m.Pos.String(), Message: m.Message, Expected: m.Expected, Actual: m.Actual})
	}
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("rendering the result: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
