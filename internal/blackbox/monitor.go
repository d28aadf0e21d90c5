package blackbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
)

// monitorEnv makes a process of this executable the monitor of another; its value is the file that grows.
const monitorEnv = "INFORMERSIM_BLACKBOX_MONITOR"

func init() {
	if file := os.Getenv(monitorEnv); file != "" {
		watch(os.Stdin, os.Stderr, file)
		os.Exit(0)
	}
}

// message is a line to the monitor: a run begins, or is over.
type message struct {
	Begin *Notice `json:"begin,omitempty"`
}

// startMonitor starts a monitor and returns the pipe to it. This process does not wait for it: it ends with the pipe.
func startMonitor(file string) (io.WriteCloser, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), monitorEnv+"="+file)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return pipe, nil
}

// watch reads messages until the process that sends them has ended, and speaks if that happened during a run.
func watch(messages io.Reader, out io.Writer, file string) {
	// Whoever interrupts the tests from a terminal, which interrupts this process, too, knows why they ended.
	var interrupted atomic.Bool
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range signals {
			interrupted.Store(true)
		}
	}()
	var current *Notice
	for r := bufio.NewReader(messages); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(line, &m) == nil {
			current = m.Begin
		}
	}
	if current != nil && !interrupted.Load() {
		report(out, file, current)
		return
	}
	_ = os.Remove(file)
	_ = os.Remove(logOf(file))
}

// report says that the process has died, and keeps its trace.
func report(out io.Writer, file string, n *Notice) {
	complete, pending, err := read(file)
	log := readTail(logOf(file))
	_ = os.Remove(logOf(file))
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", n.Head)
	if err == nil {
		b.WriteString(progress(complete, pending))
		file, err = keep(complete, file, n.Trace)
	}
	if err != nil {
		fmt.Fprintf(&b, "  the trace so far could not be kept: %v\n", err)
	} else {
		fmt.Fprintf(&b, "  the trace so far is in %s\n", file)
	}
	b.WriteString(logged(log, n.Log))
	fmt.Fprintf(&b, "\n%s\n", n.Tail)
	_, _ = io.WriteString(out, b.String())
}

// shownLog is how many lines of the log are shown.
const shownLog = 12

// logged keeps the end of the log, and shows its last lines.
func logged(log []byte, to string) string {
	if len(log) == 0 {
		return ""
	}
	var b strings.Builder
	if to != "" && os.WriteFile(to, log, 0o644) == nil {
		fmt.Fprintf(&b, "  the end of its log is in %s\n", to)
	}
	lines := strings.Split(strings.TrimRight(string(log), "\n"), "\n")
	lines = lines[max(0, len(lines)-shownLog):]
	fmt.Fprintf(&b, "\n  what it logged last\n    %s\n", strings.Join(lines, "\n    "))
	return b.String()
}

// keep writes the complete lines to where they are wanted, or over the temporary file, which has more than them.
func keep(complete []byte, file, to string) (name string, err error) {
	if to == "" {
		return file, os.WriteFile(file, complete, 0o644)
	}
	err = os.MkdirAll(filepath.Dir(to), 0o755)
	if err == nil {
		err = os.WriteFile(to, complete, 0o644)
	}
	if err != nil {
		if err := os.WriteFile(file, complete, 0o644); err != nil {
			return "", err
		}
		return file, nil
	}
	return to, os.Remove(file)
}

// read reads a file that grew, up to the last complete line of a step, and what was pending then.
func read(file string) (complete []byte, pending string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	if len(data) == 0 {
		return nil, "", errors.New("it is empty")
	}
	text := string(data)
	cut := len(text)
	if strings.HasPrefix(text, pendingLine) {
		cut = 0
	} else if i := strings.Index(text, "\n"+pendingLine); i >= 0 {
		cut = i + 1
	}
	complete, rest := data[:cut], text[cut:]
	return complete, describe(rest), nil
}

// entry has the fields of a trace's lines that the monitor needs.
type entry struct {
	Pending string `json:"pending"`
	Step    uint64 `json:"s"`
	At      int64  `json:"t"`
	Kind    string `json:"r"`
	Actor   string `json:"a"`
	Key     string `json:"key"`
	Detail  string `json:"x"`
}

// describe puts what was pending on one line.
func describe(pending string) string {
	var parts []string
	for line := range strings.Lines(pending) {
		var e entry
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		if e.Pending == "-" {
			continue
		}
		if e.Pending != "" {
			parts = append(parts, e.Pending)
			continue
		}
		words := e.Actor + ": " + e.Kind
		for _, w := range []string{e.Key, e.Detail} {
			if w != "" {
				words += " " + w
			}
		}
		parts = append(parts, words)
	}
	return strings.Join(parts, "; ")
}
