package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// pty is a terminal of the kernel's with a program in it.
type pty struct {
	t    *testing.T
	main *os.File
	mu   sync.Mutex
	said bytes.Buffer
	cmd  *exec.Cmd
	done chan error
}

func ioctl(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg)); errno != 0 {
		t.Fatalf("ioctl %#x: %v", request, errno)
	}
}

func (p *pty) resize(width, height uint16) {
	size := [4]uint16{height, width}
	ioctl(p.t, p.main, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
}

// inPTY starts this program as the command in a terminal of that size.
func inPTY(t *testing.T, width, height uint16, env []string, args ...string) *pty {
	t.Helper()
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	p := &pty{t: t, main: main, done: make(chan error, 1)}
	var unlocked, number int32
	ioctl(t, main, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	ioctl(t, main, syscall.TIOCGPTN, unsafe.Pointer(&number))
	p.resize(width, height)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(exe, args...)
	p.cmd.Env = append(append(os.Environ(), asCommand+"=1", "TERM=xterm", "NO_COLOR="), env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := main.Read(buf)
			p.mu.Lock()
			p.said.Write(buf[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill() // if it has not ended
		main.Close()
	})
	return p
}

// wants waits until the terminal was sent a text; it returns, and forgets, what it was sent up to there.
func (p *pty) wants(text string) string {
	p.t.Helper()
	for range 1500 {
		p.mu.Lock()
		var before []byte
		if i := bytes.Index(p.said.Bytes(), []byte(text)); i >= 0 {
			before = bytes.Clone(p.said.Next(i + len(text)))
		}
		p.mu.Unlock()
		if before != nil {
			return string(before)
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.t.Fatalf("the terminal was not sent %q, but %q", text, p.said.String())
	return ""
}

func (p *pty) types(keys string) {
	p.t.Helper()
	if _, err := p.main.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// In a terminal, tui draws on a screen of its own, follows keys and the terminal's size, and leaves the terminal as it was.
func TestTUIInATerminal(t *testing.T) {
	p := inPTY(t, 80, 24, nil, "tui", gapTrace)
	p.wants(enterScreen)
	p.wants("step 25 of 25")
	p.types("\x1b[A")
	if screen := p.wants("step 24 of 25"); !strings.Contains(screen, "\x1b[7m") {
		t.Errorf("nothing is highlighted: %q", screen)
	}
	p.types("F")
	p.wants("step 17 of 25")
	p.resize(140, 30)
	p.wants(" │ ")
	p.types("/default/b\r")
	p.wants("n/N next, previous")
	p.types("q")
	p.wants(leaveScreen)
	if err := <-p.done; err != nil {
		t.Error(err)
	}

	p = inPTY(t, 80, 24, []string{"NO_COLOR=1"}, "tui", gapTrace)
	if screen := p.wants("step 25 of 25"); strings.Contains(screen, "\x1b[31m") {
		t.Errorf("there are colors: %q", screen)
	}
	p.types("\x03")
	p.wants(leaveScreen)
	if err := <-p.done; err != nil {
		t.Error(err)
	}
}
