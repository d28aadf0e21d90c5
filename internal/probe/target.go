package probe

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// A Target is a running apiserver that serves the conformance resources.
type Target interface {
	// Root returns its URL without a trailing slash.
	Root() string
	// Compact discards every version before revision, 0 meaning the current one. With storageOnly the watch caches keep
	// their history (S11).
	Compact(ctx context.Context, revision int64, storageOnly bool) error
	// Restart restarts the apiserver over the same storage.
	Restart(ctx context.Context) error
}

// RemoteTarget is a server in another process, such as informersim serve.
type RemoteTarget struct {
	// URL is the server's root.
	URL string
	// Control is the root of its control listener; without one, probes that compact or restart fail.
	Control string
}

// Root implements Target.
func (t RemoteTarget) Root() string { return strings.TrimSuffix(t.URL, "/") }

// Compact implements Target.
func (t RemoteTarget) Compact(ctx context.Context, revision int64, storageOnly bool) error {
	query := url.Values{}
	if revision != 0 {
		query.Set("rev", strconv.FormatInt(revision, 10))
	}
	if storageOnly {
		query.Set("cache", "keep")
	}
	return t.post(ctx, "/compact", query)
}

// Restart implements Target.
func (t RemoteTarget) Restart(ctx context.Context) error {
	return t.post(ctx, "/restart", url.Values{"replica": {"0"}})
}

func (t RemoteTarget) post(ctx context.Context, path string, query url.Values) error {
	if t.Control == "" {
		return fmt.Errorf("no control address: cannot POST %s; give one with --control", path)
	}
	address := strings.TrimSuffix(t.Control, "/") + path + "?" + query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return fmt.Errorf("control request: %w", err)
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("control request: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if strings.Contains(string(body), "compacted already") {
		return nil // compacting twice is not an error
	}
	if err != nil || resp.StatusCode/100 != 2 {
		return fmt.Errorf("POST %s: %s %.300s", address, resp.Status, body)
	}
	return nil
}
