//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// canary is a process that does nothing, in the process group of the test. The engine is not the test's parent, and cannot ask of what it has died; but
// what a person presses, and what timeout(1) and CI systems send, comes to the whole group, and the canary is the engine's own child. A handler of
// signals in the test's process would tell more, but Go gives no way to be one beside those of others, such as Ginkgo's, and to leave the process
// to its fate where there are none.
type canary struct {
	cmd  *exec.Cmd
	in   io.Closer // it ends with its input, whatever ends the engine
	gone chan struct{}
}

// canaryPatience is how long the canary may take to die of what the test has died of. It is lost only when a test is killed.
const canaryPatience = 300 * time.Millisecond

// newCanary starts one, before the engine ignores signals, because a child would, too. It returns nil if the system does not let it.
func newCanary() *canary {
	group, err := syscall.Getpgid(os.Getppid())
	if err != nil {
		return nil
	}
	c := &canary{cmd: exec.Command("cat"), gone: make(chan struct{})}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	if c.in, err = c.cmd.StdinPipe(); err != nil || c.cmd.Start() != nil {
		return nil
	}
	go func() {
		_ = c.cmd.Wait() // how it has ended is in its state
		close(c.gone)
	}()
	return c
}

// close ends the canary.
func (c *canary) close() {
	if c != nil {
		c.in.Close()
		<-c.gone
	}
}

// interrupted returns the signal by which somebody has ended the test's process group, "" if nobody has, as far as is known.
func (c *canary) interrupted() string {
	if c == nil {
		return ""
	}
	select {
	case <-c.gone:
	case <-time.After(canaryPatience):
		return ""
	}
	return c.signal()
}

// stopped reports whether somebody has ended the group by now.
func (c *canary) stopped() bool {
	if c == nil {
		return false
	}
	select {
	case <-c.gone:
		return c.signal() != ""
	default:
		return false
	}
}

// signal returns the signal by which somebody has ended the canary, "" if it was something else.
func (c *canary) signal() string {
	status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	switch s := status.Signal(); s {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
		return s.String()
	}
	return ""
}

// isProcess reports whether there is a process of that number.
func isProcess(number int) bool { return syscall.Kill(number, 0) != syscall.ESRCH }
