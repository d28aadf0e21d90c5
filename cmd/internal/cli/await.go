package cli

import (
	"context"
	"io"
	"os"
)

// Await returns what f returns, or the error of ctx if that ends first: f may wait for a FIFO that nobody writes to, which nothing
// can interrupt. What it would return is lost then, so the command must end.
func Await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Open opens an input. When ctx ends, so do the waits for it: for the writer of a FIFO, and for what that writes.
func Open(ctx context.Context, path string) (io.ReadCloser, error) {
	file, err := Await(ctx, func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return nil, err
	}
	return &input{ctx, file, context.AfterFunc(ctx, func() { file.Close() })}, nil
}

// input is an open input.
type input struct {
	ctx  context.Context
	file *os.File
	stop func() bool
}

// Read implements io.Reader.
func (i *input) Read(b []byte) (int, error) {
	n, err := i.file.Read(b)
	if err != nil && i.ctx.Err() != nil {
		return n, i.ctx.Err()
	}
	return n, err
}

// Close implements io.Closer.
func (i *input) Close() error {
	i.stop()
	return i.file.Close()
}
