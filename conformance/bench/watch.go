package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
)

// frameBuffer is larger than any event of the measurements.
const frameBuffer = 64 << 10

// watcher is one open watch that reads as fast as it can.
type watcher struct {
	server Server
	stream io.ReadCloser
	// last is the last event that was read whole.
	last []byte
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
	return &watcher{server: s, stream: resp.Body}, nil
}

var revisionInEvent = regexp.MustCompile(`"resourceVersion":"([0-9]+)"`)

// read counts events until there are enough, going on where a stream ended.
func (w *watcher) read(ctx context.Context, want int) error {
	defer func() { w.stream.Close() }()
	reader := bufio.NewReaderSize(w.stream, frameBuffer)
	for seen := 0; seen < want; {
		line, err := reader.ReadSlice('\n')
		if err == nil {
			w.last = append(w.last[:0], line...)
			seen++
			continue
		}
		m := revisionInEvent.FindSubmatch(w.last)
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || m == nil {
			return fmt.Errorf("a watch ended after %d of %d events: %w", seen, want, err)
		}
		w.stream.Close()
		again, err := w.server.open(ctx, string(m[1]))
		if err != nil {
			return err
		}
		w.stream = again.stream
		reader.Reset(w.stream)
	}
	return nil
}
