package mutation

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/subjects"
)

// Search says how far to look.
type Search struct {
	// Runs is how many runs are made at most in each range of seeds.
	Runs uint64
	// Ranges is how many ranges of seeds are searched, each as if it were the only one. They are disjoint.
	Ranges int
	// Shrink is how many runs may be made to shrink what the first range finds; 0 for none.
	Shrink int
	// Timeout is how long one run may take, in real time.
	Timeout time.Duration
}

// rangeOfSeeds is how far the first seeds of two ranges are apart.
const rangeOfSeeds = 1_000_000

// MaxRuns is the greatest Search.Runs: ranges do not overlap.
const MaxRuns = rangeOfSeeds

// A Range is what the search found in one range of seeds.
type Range struct {
	First uint64 `json:"first"`
	// Runs is how many it took, with the one that found something.
	Runs uint64 `json:"runs"`
	// Found is nil if all passed.
	Found *Found `json:"found,omitempty"`
	// Error says why a run has no verdict, which ended the search.
	Error string `json:"error,omitempty"`
}

// hunt searches the ranges of seeds. It ends early once most of them have passed.
func hunt(ctx context.Context, p Program, subject string, s Search) ([]Range, error) {
	var ranges []Range
	passed := 0
	for n := range s.Ranges {
		if passed > s.Ranges/2 {
			break // it survives, whatever the others find
		}
		shrink := s.Shrink
		if n > 0 {
			shrink = 0
		}
		r, err := huntRange(ctx, p, subject, uint64(n)*rangeOfSeeds+1, s, shrink)
		if err != nil {
			return nil, err
		}
		if r.Found == nil {
			passed++
		}
		ranges = append(ranges, *r)
	}
	return ranges, nil
}

// overtime is how long a driver may take to say that a run took too long, or to shrink one.
const overtime = 30 * time.Second

func huntRange(ctx context.Context, p Program, subject string, first uint64, s Search, shrink int) (*Range, error) {
	driver, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(driver, p.File, "-subject", subject, "-first", fmt.Sprint(first), "-runs", fmt.Sprint(s.Runs),
		"-shrink", fmt.Sprint(shrink), "-timeout", s.Timeout.String(), fmt.Sprintf("-interleave=%t", p.interleave))
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", activeEnv, p.number))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.File, err)
	}
	silence := s.Timeout + overtime
	if shrink > 0 {
		silence += 2 * s.Timeout
	}
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()

	r := &Range{First: first}
	var last Answer
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		watchdog.Reset(silence)
		last = Answer{}
		if err := json.Unmarshal(line, &last); err != nil {
			return nil, fmt.Errorf("%s said %q: %w", p.File, line, err)
		}
		if last.Seed != 0 {
			r.Runs = last.Seed - first + 1
		}
	}
	_ = cmd.Wait() // what it said decides
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case last.Found != nil:
		r.Found = last.Found
	case last.Error != "":
		r.Error = last.Error
	case last.Done && r.Runs > 0:
	case last.Seed == 0:
		return nil, fmt.Errorf("%s did not run: %s", p.File, bytes.TrimSpace(stderr.Bytes()))
	case driver.Err() != nil:
		r.Error = fmt.Sprintf("seed %d did not end within %v", last.Seed, silence)
	default:
		r.Found, r.Error = died(last.Seed, time.Since(started), cmd.ProcessState, stderr.String())
	}
	return r, nil
}

// badDriver is the exit code of a driver that goes wrong by itself.
const badDriver = 2

// died judges a driver that ended in the middle of a run, as NoPanic is judged in a range of seeds: a panic that nobody recovers
// ends the process, and so do os.Exit and klog.Fatal.
func died(seed uint64, after time.Duration, ended *os.ProcessState, stderr string) (*Found, string) {
	what, _, _ := strings.Cut(subjects.LastWords(stderr), "\n")
	if what == "" {
		what = ended.String()
		if !ended.Exited() || ended.ExitCode() == badDriver {
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			return nil, fmt.Sprintf("the process of seed %d ended without an answer: %s: %s", seed, what, lines[len(lines)-1])
		}
	}
	return &Found{Seed: seed, Property: property.NoPanic, Message: subjects.EndedProcess + " " + what, Seconds: after.Seconds()}, ""
}
