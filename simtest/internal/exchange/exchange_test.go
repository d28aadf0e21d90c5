package exchange

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// An answer may come when its request is canceled. The client gets the one or the other, and the two may be said by different goroutines: run it with -race.
func TestAnswerWhileCanceled(t *testing.T) {
	const body = "all of it"
	for range 200 {
		table := NewTable(func(func(*wire.Packet)) {})
		ctx, cancel := context.WithCancel(t.Context())
		hr, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://cluster/api/v1/pods", nil)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			resp, err := table.RoundTrip(hr, Sender{Client: "c", Life: t.Context()})
			if err != nil {
				return
			}
			switch got, err := io.ReadAll(resp.Body); {
			case err != nil:
				t.Error(err)
			case len(got) > 0 && string(got) != body:
				t.Errorf("the body is %q", got)
			case resp.StatusCode != http.StatusOK || int(resp.ContentLength) != len(got):
				t.Errorf("status %d, and a length of %d for %d bytes", resp.StatusCode, resp.ContentLength, len(got))
			}
		}()
		var answer bytes.Buffer
		if err := wire.New(0).Num(1).Num(http.StatusOK).Header(http.Header{}).Bytes([]byte(body)).Send(&answer); err != nil {
			t.Fatal(err)
		}
		m, err := wire.Receive(&answer)
		if err != nil {
			t.Fatal(err)
		}
		for waits := false; !waits; { // until it is asked for
			table.mu.Lock()
			waits = table.open[1] != nil
			table.mu.Unlock()
		}
		go cancel()
		table.Take(wire.DoAnswer, m)
		<-done
		cancel()
	}
}
