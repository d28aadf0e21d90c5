package remote

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/clientgo/gates"
	"github.com/informersim/informersim/subjects/clientgo/pipe"
	"github.com/informersim/informersim/world/wire"
)

// Guest is a guest's program. Its zero value but for Path works.
type Guest struct {
	Path string
	Args []string // of the program
	// Name is that of the subject, for messages.
	Name string
	// Quiescence limits the real time that a step may take to become quiescent; 0 for the default.
	Quiescence time.Duration

	mu   sync.Mutex // serialises runs
	p    *process   // nil for none
	side *side      // of the run that is being made
}

// DeadError is the error of a run whose guest has ended in the middle of it.
type DeadError struct {
	Guest  string // its subject's name
	Status string // how it ended
	Said   string // the end of its standard error

	code int // its exit code, -1 if a signal has ended it
}

func (e *DeadError) Error() string {
	text := fmt.Sprintf("the process with %s has ended in the middle of the run: %s", e.Guest, e.Status)
	if e.Said != "" {
		text += "\n  " + strings.ReplaceAll(e.Said, "\n", "\n  ")
	}
	return text
}

// process is a running guest.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr tail
}

// start starts the process, and waits for its greeting.
func (g *Guest) start() (*process, error) {
	p := &process{cmd: exec.Command(g.Path, g.Args...)}
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = ownGroup()
	p.cmd.WaitDelay = time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", g.Name, err)
	}
	m, err := wire.Receive(p.out)
	if err == nil && m.Kind != pipe.Hello {
		err = wire.ErrProtocol
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s (%s): %w", g.Name, g.Path, p.died(g.Name))
	}
	return p, nil
}

// died waits for the end of a process that has gone, or has to go, and says how it ended.
func (p *process) died(name string) *DeadError {
	p.in.Close()
	late := time.AfterFunc(time.Second, func() { _ = p.cmd.Process.Kill() })
	err := p.cmd.Wait()
	late.Stop()
	status := "exit status 0"
	if err != nil {
		status = err.Error()
	}
	return &DeadError{Guest: name, Status: status, Said: p.stderr.last(), code: p.cmd.ProcessState.ExitCode()}
}

// Close ends the process.
func (g *Guest) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.p != nil {
		g.p.died(g.Name)
		g.p = nil
	}
}

// Host is a subjects.Host that makes a run in the guest.
func (g *Guest) Host(seed uint64, run func()) error { return g.host(seed, g.Quiescence, false, run) }

// Interleaved is Host with client-go's goroutines interleaved by the seed, in a guest that is built with the overlay.
func (g *Guest) Interleaved(seed uint64, run func()) error {
	return g.host(seed, g.Quiescence, true, run)
}

// Within returns Host, or Interleaved, with another limit on the real time that a step may take to become quiescent.
func (g *Guest) Within(quiescence time.Duration, interleave bool) subjects.Host {
	return func(seed uint64, run func()) error { return g.host(seed, quiescence, interleave, run) }
}

func (g *Guest) host(seed uint64, quiescence time.Duration, interleave bool, run func()) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.p == nil {
		p, err := g.start()
		if err != nil {
			return err
		}
		g.p = p
	}
	s := &side{guest: g, p: g.p, objects: pipe.NewObjects(), order: wire.New(pipe.Do), interleaved: interleave}
	g.side = s
	defer func() { g.side = nil }()
	if err := wire.New(pipe.Begin).Num(int64(seed)).Duration(quiescence).Flag(interleave).Send(g.p.in); err != nil {
		s.lost()
		return s.err
	}
	run()
	if s.err == nil {
		s.end()
		return s.err
	}
	return nil // the run has failed with it
}

// Enter is a clientgo.Enter, within Host.
func (g *Guest) Enter(_ time.Duration, tell func(*gates.Event)) (clientgo.Side, error) {
	s := g.side
	if s == nil {
		return nil, errors.New("there is no run in the guest")
	}
	s.tell = tell
	return s, nil
}

// end ends the bubble, and notes what kept it from ending.
func (s *side) end() {
	if err := wire.New(pipe.End).Send(s.p.in); err != nil {
		s.lost()
		return
	}
	m, err := wire.Receive(s.p.out)
	if err != nil {
		s.lost()
		return
	}
	s.ended(m)
}

// ended notes how a bubble has ended, if not well.
func (s *side) ended(m *wire.Message) {
	if m.Kind != pipe.Ended {
		s.broken(wire.ErrProtocol)
		return
	}
	kind, text := m.Num(), m.Text()
	switch {
	case m.Err() != nil:
		s.broken(m.Err())
	case kind == pipe.Well:
	case kind == pipe.Wrong:
		s.broken(errors.New(text))
	default:
		s.err = &subjects.Failure{Kind: subjects.FailureKind(kind - pipe.Failed), What: text}
		if s.err.(*subjects.Failure).Kind == subjects.Hung {
			s.drop() // what hangs there hangs for good
		}
	}
}

// mistaken is the exit code of a guest that goes wrong by itself.
const mistaken = 2

// lost notes that the process has gone. A panic that nobody has recovered is client-go's, and so is any other exit code.
func (s *side) lost() {
	dead := s.p.died(s.guest.Name)
	s.guest.p = nil
	why := subjects.LastWords(dead.Said)
	if why == "" && dead.code > 0 && dead.code != mistaken {
		why = strings.TrimRight(dead.Status+"\n"+dead.Said, "\n")
	}
	if s.err = dead; why != "" {
		s.err = &subjects.Failure{Kind: subjects.Panicked, What: subjects.EndedProcess + "\n" + why}
	}
}

// broken notes a mistake of the guest's, which is not used any more.
func (s *side) broken(err error) {
	s.err = fmt.Errorf("%s: %w", s.guest.Name, err)
	s.drop()
}

func (s *side) drop() {
	_ = s.p.cmd.Process.Kill() // it may spin, and has said all that it will
	s.p.died(s.guest.Name)
	s.guest.p = nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const maxTail = 64 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if len(t.b) > 2*maxTail {
		t.b = bytes.Clone(t.b[len(t.b)-maxTail:])
	}
	return len(b), nil
}

// last returns why the process has ended or, if it does not say so, the last few lines.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.b))
	if words := subjects.LastWords(text); words != "" {
		return words
	}
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
