package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/informersim/informersim/reports"
)

// A Transcript is a scenario that a program plays once, as it is written.
type Transcript struct {
	// Subject is the stack under test, one of package kinds.
	Subject string
	// Scenario is its file.
	Scenario string
	// Property is the only one that is checked; "" for all.
	Property string
	// Strict leaves out the exemptions for what upstream is known to do.
	Strict bool
	// Trace is the file for the trace; "" for none.
	Trace string
}

// playTimeout is the real time that a transcript may take: it is some hundred steps, and a deadlock of goroutines takes 30 s to be one.
const playTimeout = 3 * time.Minute

// Play plays a transcript with a program. A process that the program under test ends is a violation of NoPanic.
func (t *Tree) Play(ctx context.Context, p Program, x Transcript) (*reports.Summary, error) {
	limited, cancel := context.WithTimeout(ctx, playTimeout)
	defer cancel()
	args := []string{"-subject", x.Subject, "-scenario", x.Scenario, "-property", x.Property, fmt.Sprintf("-exempt=%t", !x.Strict)}
	if x.Trace != "" {
		file, err := filepath.Abs(x.Trace)
		if err != nil {
			return nil, err
		}
		args = append(args, "-trace", file)
	}
	cmd := exec.CommandContext(limited, p.File, args...)
	cmd.Dir = t.root
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", activeEnv, p.number))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("%s on %s did not end within %v", x.Scenario, x.Subject, playTimeout)
	case err != nil && cmd.ProcessState != nil:
		if found, _ := died(1, 0, cmd.ProcessState, stderr.String()); found != nil {
			return &reports.Summary{Subject: x.Subject, Violation: &reports.Violation{Property: found.Property, Message: found.Message}}, nil
		}
		return nil, fmt.Errorf("%s on %s: %w: %s", x.Scenario, x.Subject, err, bytes.TrimSpace(stderr.Bytes()))
	case err != nil:
		return nil, fmt.Errorf("starting %s: %w", p.File, err)
	}
	s := &reports.Summary{}
	if err := json.Unmarshal(out, s); err != nil {
		return nil, fmt.Errorf("%s on %s: it said %q: %w", x.Scenario, x.Subject, out, err)
	}
	return s, nil
}

// Unchanged is the program without an active mutant, after Build of some that do not interleave goroutines, or of none.
func (t *Tree) Unchanged() Program { return Program{File: t.unchanged[0]} }
