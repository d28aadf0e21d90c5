package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Transcript holds a server's normalised answers to a probe.
type Transcript struct {
	Name  string   `json:"name"`
	Cites []string `json:"cites,omitempty"`
	Steps []Result `json:"steps"`
}

// Result is the answer to one step.
type Result struct {
	// Do is the step as written in the script.
	Do string `json:"do"`
	// Code is the HTTP status; 0 for steps that are no request.
	Code int `json:"code,omitempty"`
	// Headers are those of tellingHeaders that were present, a plain JSON content type left out.
	Headers map[string]string `json:"headers,omitempty"`
	// Form is the formatting of the body, when the probe asks for it.
	Form string `json:"form,omitempty"`
	// Body is the decoded, normalised body.
	Body any `json:"body,omitempty"`
	// Events are the decoded, normalised frames that a watch delivered.
	Events []any `json:"events,omitempty"`
	// End says how reading a watch ended.
	End string `json:"end,omitempty"`
	// Error is a failure below HTTP.
	Error string `json:"error,omitempty"`
}

// lines is the indented JSON of v.
func lines(v any) []string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(v); err != nil {
		return []string{err.Error()}
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// Encode is the transcript as a golden file holds it.
func (t Transcript) Encode() []byte {
	return []byte(strings.Join(lines(t), "\n") + "\n")
}

// DecodeTranscript reads a golden file.
func DecodeTranscript(data []byte) (Transcript, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	var t Transcript
	if err := decoder.Decode(&t); err != nil {
		return t, fmt.Errorf("read transcript: %w", err)
	}
	return t, nil
}

// StepDiff is a step that two servers answered differently.
type StepDiff struct {
	// Number counts from 1; Do is the step as written in the script.
	Number int
	Do     string
	// Changes is a line diff of the two answers.
	Changes string
}

// Steps compares what two servers answered and returns the steps that differ. want is the reference.
func Steps(want, got Transcript) []StepDiff {
	var diffs []StepDiff
	for i := range max(len(want.Steps), len(got.Steps)) {
		switch {
		case i >= len(got.Steps):
			diffs = append(diffs, StepDiff{i + 1, want.Steps[i].Do, "  missing\n"})
		case i >= len(want.Steps):
			diffs = append(diffs, StepDiff{i + 1, got.Steps[i].Do, "  unexpected\n"})
		default:
			if changes := diffLines(lines(want.Steps[i]), lines(got.Steps[i])); changes != "" {
				diffs = append(diffs, StepDiff{i + 1, want.Steps[i].Do, changes})
			}
		}
	}
	return diffs
}

// Diff is the text of Steps; empty when the servers agree.
func Diff(want, got Transcript) string {
	var b strings.Builder
	for _, d := range Steps(want, got) {
		fmt.Fprintf(&b, "step %d: %s\n%s", d.Number, d.Do, d.Changes)
	}
	return b.String()
}

// DiffText is the line diff of two texts; empty when they are equal.
func DiffText(want, got string) string {
	return diffLines(strings.Split(want, "\n"), strings.Split(got, "\n"))
}

// contextLines is how many equal lines are shown around a change.
const contextLines = 2

// diffLines is a line diff with context: "-" only in want, "+" only in got; empty when equal.
func diffLines(want, got []string) string {
	type edit struct {
		mark byte
		text string
	}
	var edits []edit
	common := longestCommon(want, got)
	i, j, changed := 0, 0, false
	for i < len(want) || j < len(got) {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			edits = append(edits, edit{' ', want[i]})
			i, j = i+1, j+1
		case j == len(got) || i < len(want) && common[i+1][j] >= common[i][j+1]:
			edits = append(edits, edit{'-', want[i]})
			i, changed = i+1, true
		default:
			edits = append(edits, edit{'+', got[j]})
			j, changed = j+1, true
		}
	}
	if !changed {
		return ""
	}
	var b strings.Builder
	last := -1
	for k, e := range edits {
		near := false
		for d := max(0, k-contextLines); d <= min(len(edits)-1, k+contextLines); d++ {
			near = near || edits[d].mark != ' '
		}
		if !near {
			continue
		}
		if last >= 0 && k > last+1 {
			b.WriteString("    …\n")
		}
		fmt.Fprintf(&b, "  %c %s\n", e.mark, e.text)
		last = k
	}
	return b.String()
}

// longestCommon[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
func longestCommon(a, b []string) [][]int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}
