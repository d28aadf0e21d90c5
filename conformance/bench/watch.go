package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
)

// frameBuffer is more than twice as large as any event of the measurements.
const frameBuffer = 64 << 10

// watcher is one open watch that reads as fast as it can.
type watcher struct {
	server Server
	stream io.ReadCloser
	// buffer contains at least the last complete event and the part of the next one read so far.
	buffer []byte
	filled int
}

// open starts a watch.
func (s Server) open(ctx context.Context, rv string) (*watcher, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Root+collection+"?watch=true&resourceVersion="+rv, nil)
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
	}
	r.Header.Set("Accept", "application/json")
	resp, err := s.Client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("open a watch: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("open a watch: %s", resp.Status)
	}
	return &watcher{server: s, stream: resp.Body, buffer: make([]byte, frameBuffer)}, nil
}

var revisionInEvent = regexp.MustCompile(`"resourceVersion":"([0-9]+)"`)

// read counts events until there are enough, going on where a stream ended.
func (w *watcher) read(ctx context.Context, want int) error {
	defer func() { w.stream.Close() }()
	for seen := 0; seen < want; {
		n, err := w.stream.Read(w.buffer[w.filled:])
		seen += bytes.Count(w.buffer[w.filled:w.filled+n], []byte("\n"))
		w.filled += n
		switch {
		case err == nil && w.filled > frameBuffer/2:
			w.filled = copy(w.buffer, w.fromLastEvent())
		case err == nil || seen >= want:
		default:
			m := revisionInEvent.FindSubmatch(w.fromLastEvent())
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || m == nil {
				return fmt.Errorf("a watch ended after %d of %d events: %w", seen, want, err)
			}
			w.stream.Close()
			again, err := w.server.open(ctx, string(m[1]))
			if err != nil {
				return err
			}
			w.stream, w.filled = again.stream, 0
		}
	}
	return nil
}

// fromLastEvent is the last event that was read whole, and what has come of the next.
func (w *watcher) fromLastEvent() []byte {
	read := w.buffer[:w.filled]
	end := bytes.LastIndexByte(read, '\n')
	return read[bytes.LastIndexByte(read[:max(0, end)], '\n')+1:]
}
