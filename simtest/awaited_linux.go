package simtest

import (
	"io"
	"os"
	"syscall"
	"unsafe"
)

// awaitOutside is how long a read waits for the engine without telling Go's scheduler, in nanoseconds. Nearly every answer comes within.
const awaitOutside = 1_000_000

// awaited reads from a pipe whose other end is about to write. To park the goroutine, as a read of an os.File does, would idle the run's only processor,
// and so take three more system calls, and wake the runtime's monitor, at each trip. So the thread itself waits, for a while. Nothing of the run
// could go on meanwhile, since its bubble is at rest.
type awaited struct {
	conn syscall.RawConn
	read func(fd uintptr) bool // once, to have no closure made for each read

	into []byte
	n    int
	err  error
}

// newAwaited returns a reader of f.
func newAwaited(f *os.File) (io.Reader, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	a := &awaited{conn: conn}
	a.read = func(fd uintptr) bool {
		await(fd)
		for {
			a.n, a.err = syscall.Read(int(fd), a.into)
			if a.err != syscall.EINTR {
				return a.err != syscall.EAGAIN
			}
		}
	}
	return a, nil
}

// Read implements io.Reader.
func (a *awaited) Read(p []byte) (int, error) {
	a.into = p
	if err := a.conn.Read(a.read); err != nil {
		return 0, err
	}
	switch {
	case a.err != nil:
		return 0, os.NewSyscallError("read", a.err)
	case a.n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return a.n, nil
}

// await waits until fd can be read, or for a while. What else ends the wait ends it early, which does no harm.
func await(fd uintptr) {
	poll := struct {
		fd              int32
		events, revents int16
	}{fd: int32(fd), events: 1} // POLLIN
	limit := syscall.NsecToTimespec(awaitOutside)
	syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
}
