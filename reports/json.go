package reports

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/informersim/informersim/sim"
)

// JSONVersion is the version of what commands print with --json; docs/json.md has its fields. A field may be added without a new version;
// one that goes away, or means something else, makes a new one.
const JSONVersion = 1

// A Summary is a run as one line of JSON. Times are virtual nanoseconds.
type Summary struct {
	Version       int             `json:"version"` // JSONVersion
	Scenario      string          `json:"scenario"`
	Subject       string          `json:"subject"`
	Engine        string          `json:"engine"`
	Strategy      string          `json:"strategy"`
	Seed          uint64          `json:"seed"`
	Mix           string          `json:"faultMix,omitempty"`
	Informers     []Configuration `json:"informers,omitempty"`
	Refused       []Refused       `json:"refused,omitempty"`
	Passed        bool            `json:"passed"`
	Verdict       string          `json:"verdict"`
	Steps         uint64          `json:"steps"`
	VirtualNs     int64           `json:"virtualNs"`
	ConvergingNs  int64           `json:"convergingNs,omitempty"` // the part of virtualNs after the faults stopped
	Hash          string          `json:"hash"`
	Search        *Search         `json:"search,omitempty"`
	Commits       int             `json:"commits"`
	Requests      int             `json:"requests"`
	Frames        int             `json:"frames"`
	Notifications int             `json:"notifications"`
	Reconciles    int             `json:"reconciles"`
	Faults        []FaultCount    `json:"faults,omitempty"`
	Properties    []string        `json:"properties,omitempty"`
	Unjudged      []Unjudged      `json:"unjudged,omitempty"`
	Violation     *Violation      `json:"violation,omitempty"`
	Failure       string          `json:"failure,omitempty"`
	Outputs       []Output        `json:"outputs,omitempty"`
	Mismatches    []Mismatch      `json:"mismatches,omitempty"`
	Missed        []Missed        `json:"missed,omitempty"`
	Unchecked     int             `json:"unchecked,omitempty"`
	Notes         []string        `json:"notes,omitempty"`
	Story         []Line          `json:"story,omitempty"`
	Twin          *Twin           `json:"twin,omitempty"`
	Replay        []string        `json:"replay,omitempty"`
	Page          string          `json:"page,omitempty"` // the file with the HTML report
	Replayed      *Replayed       `json:"replayed,omitempty"`
}

// WriteJSON renders a report as one line of JSON, a [Summary].
func WriteJSON(w io.Writer, report Report) error {
	r := report.Run
	b, err := json.Marshal(Summary{
		Version:  JSONVersion,
		Scenario: r.Scenario, Subject: r.Subject, Engine: r.Engine, Strategy: r.Strategy, Seed: r.Seed, Mix: r.Mix, Informers: r.Informers, Refused: r.Refused,
		Passed: r.Passed(), Verdict: r.Verdict(), Steps: r.Steps, VirtualNs: int64(r.Virtual), ConvergingNs: int64(r.Converging), Hash: sim.FormatHash(r.Hash), Search: r.Search,
		Commits: r.Commits, Requests: r.Requests, Frames: r.Frames, Notifications: r.Notifications, Reconciles: r.Reconciles,
		Faults: r.Faults, Properties: r.Properties, Unjudged: r.Unjudged, Violation: r.Violation, Failure: r.Failure, Mismatches: r.Mismatches, Missed: r.Missed, Unchecked: r.Unchecked, Outputs: report.Outputs, Replay: report.Replay, Page: report.Page,
		Notes: report.Notes, Story: report.Story, Twin: report.Twin, Replayed: report.Replayed,
	})
	if err != nil {
		return fmt.Errorf("rendering the report: %w", err)
	}
	_, err = io.WriteString(w, Plain(string(b))+"\n")
	return err
}
