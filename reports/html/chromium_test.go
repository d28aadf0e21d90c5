package html_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// chromium is a headless browser that is spoken to over pipes: its DevTools protocol, messages of JSON that end in a zero byte.
type chromium struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	session string
	id      int
	errors  []string // of the console, and uncaught ones
	dialogs int
}

// startChromium starts the browser of the machine, or skips the test.
func startChromium(t *testing.T) *chromium {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("there is no chromium here (Debian: apt-get install chromium)")
	}
	// Now and then a browser ends before it says a word, which tells nothing about the page.
	for try := 1; ; try++ {
		b, err := start(t, path)
		if err == nil {
			return b
		}
		if try == 3 {
			t.Fatalf("no browser, in %d tries: %v", try, err)
		}
		t.Logf("the browser is started once more: %v", err)
	}
}

// start starts a browser with an empty profile and opens a page in it.
func start(t *testing.T, path string) (*chromium, error) {
	profile, err := os.MkdirTemp("", "informersim-chromium-*")
	if err != nil {
		return nil, err
	}
	// Its processes may end after it, so that what they leave does not fail the test.
	t.Cleanup(func() { os.RemoveAll(profile) })
	args := []string{"--headless", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-dev-shm-usage", "--user-data-dir=" + profile,
		"--disable-background-networking", "--disable-component-update", "--disable-sync"} // it needs no network
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox") // which root cannot have
	}
	cmd := exec.Command(path, args...)
	cmd.WaitDelay = 10 * time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	toRead, err := pipe(t)
	if err != nil {
		return nil, err
	}
	toWrite, err := pipe(t)
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{toRead[0], toWrite[1]} // its files 3 and 4
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	toRead[0].Close()
	toWrite[1].Close()
	end := sync.OnceValue(func() error {
		// It ends with its pipe; if not, by force.
		toRead[1].Close()
		late := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		defer late.Stop()
		return cmd.Wait()
	})
	t.Cleanup(func() { end() })
	b := &chromium{t: t, in: toRead[1], out: bufio.NewReader(toWrite[0])}
	var target struct{ TargetID string }
	var session struct{ SessionID string }
	err = b.try("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	if err == nil {
		err = b.try("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (%v); it said:\n%s", err, end(), said.String())
	}
	b.session = session.SessionID
	for _, domain := range []string{"Runtime", "Log", "Page"} {
		b.call(domain+".enable", nil, nil)
	}
	return b, nil
}

func pipe(t *testing.T) (ends [2]*os.File, err error) {
	ends[0], ends[1], err = os.Pipe()
	t.Cleanup(func() { ends[0].Close(); ends[1].Close() })
	return ends, err
}

// call calls a method and waits for its answer.
func (b *chromium) call(method string, params, result any) {
	b.t.Helper()
	if err := b.try(method, params, result); err != nil {
		b.t.Fatal(err)
	}
}

// try calls a method and waits for its answer. What else the browser says meanwhile is noted.
func (b *chromium) try(method string, params, result any) error {
	b.id++
	if params == nil {
		params = map[string]any{}
	}
	ask := map[string]any{"id": b.id, "method": method, "params": params}
	if b.session != "" {
		ask["sessionId"] = b.session
	}
	text, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		return fmt.Errorf("%s: the browser does not read: %w", method, err)
	}
	for {
		line, err := b.out.ReadBytes(0)
		if err != nil {
			return fmt.Errorf("%s: the browser has ended: %w", method, err)
		}
		var answer struct {
			ID     int
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &answer); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		switch {
		case answer.ID == 0:
			b.event(answer.Method, string(answer.Params))
			continue
		case answer.ID != b.id:
			continue
		case answer.Error != nil:
			return fmt.Errorf("%s: %s", method, answer.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		}
		return nil
	}
}

func (b *chromium) event(method, params string) {
	switch method {
	case "Runtime.exceptionThrown", "Log.entryAdded":
		b.errors = append(b.errors, params)
	case "Runtime.consoleAPICalled":
		if strings.Contains(params, `"type":"error"`) {
			b.errors = append(b.errors, params)
		}
	case "Page.javascriptDialogOpening":
		b.dialogs++
	}
}

// eval evaluates an expression to a string.
func (b *chromium) eval(expression string) string {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")", "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	return fmt.Sprint(answer.Result.Value)
}

// open shows a page, and returns once its script is done, if it has one.
func (b *chromium) open(page string, width, height int, scheme string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
		b.t.Fatal(err)
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	for range 3000 {
		if b.eval(fmt.Sprintf(`location.pathname === %q && document.documentElement && (document.scripts.length === 0 && document.readyState === "complete" ? "yes" : document.documentElement.dataset.ready)`, file)) == "yes" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatalf("the report's script has not ended; errors: %q", b.errors)
}

// press presses a key.
func (b *chromium) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		params := map[string]any{"type": "keyDown", "key": key}
		if len(key) == 1 {
			params["text"] = key
		}
		b.call("Input.dispatchKeyEvent", params, nil)
		params["type"] = "keyUp"
		delete(params, "text")
		b.call("Input.dispatchKeyEvent", params, nil)
	}
}

// clean fails the test if the page had an error or opened a dialog.
func (b *chromium) clean() {
	b.t.Helper()
	if len(b.errors) > 0 || b.dialogs > 0 {
		b.t.Errorf("the console has %q, and there were %d dialogs", b.errors, b.dialogs)
	}
	b.errors, b.dialogs = nil, 0
}

// screenshot writes what is in view to a file, a little smaller.
func (b *chromium) screenshot(file string, width, height int) {
	b.t.Helper()
	var answer struct{ Data string }
	clip := map[string]any{"x": 0, "y": 0, "width": width, "height": height, "scale": .72}
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "clip": clip}, &answer)
	image, err := base64.StdEncoding.DecodeString(answer.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, image, 0o666); err != nil {
		b.t.Fatal(err)
	}
}
