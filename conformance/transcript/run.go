package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

const (
	// commandTimeout bounds a command, firstOutput the wait for the first output of a background one; quiet is how long it
	// must have printed nothing before it is interrupted.
	commandTimeout = 60 * time.Second
	firstOutput    = 3 * time.Second
	quiet          = time.Second
	poll           = 20 * time.Millisecond
)

// A Runner plays scripts with one kubectl against one server.
type Runner struct {
	// Kubectl is the program's path, URL the server's root, Dir a directory for the client's configuration and cache.
	Kubectl, URL, Dir string

	background map[string]*background
}

// background is a command that runs while others do.
type background struct {
	cancel context.CancelFunc
	ended  chan error
	out    *buffer
}

// buffer is an output that can be read while it is written.
type buffer struct {
	mu   sync.Mutex
	data bytes.Buffer
	last time.Time
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = time.Now()
	return b.data.Write(p)
}

func (b *buffer) read() (string, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data.String(), b.last
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: default}}]
current-context: x
`

// Play runs the blocks in order and returns them with their output as Want.
func (r *Runner) Play(ctx context.Context, blocks []Block) ([]Block, error) {
	if err := os.WriteFile(filepath.Join(r.Dir, "config"), []byte(fmt.Sprintf(kubeconfig, r.URL)), 0o600); err != nil {
		return nil, fmt.Errorf("write the kubeconfig: %w", err)
	}
	r.background = map[string]*background{}
	defer func() {
		for _, b := range r.background {
			b.cancel()
			<-b.ended
		}
	}()
	played := make([]Block, len(blocks))
	for i, b := range blocks {
		output, err := r.play(ctx, b)
		if err != nil {
			return nil, fmt.Errorf("line %d (%s): %w", b.Line, b.Command, err)
		}
		b.Want = normalise(output)
		played[i] = b
	}
	return played, nil
}

func (r *Runner) play(ctx context.Context, b Block) (string, error) {
	words, err := split(b.Command)
	if err != nil {
		return "", err
	}
	switch {
	case len(words) == 2 && (words[0] == "stop" || words[0] == "finish"):
		return r.end(words[1], words[0] == "stop")
	case len(words) > 2 && words[0] == "start" && words[2] == "kubectl":
		return "", r.start(ctx, words[1], words[3:], b.Stdin)
	case len(words) > 0 && words[0] == "kubectl":
		return r.command(ctx, words[1:], b.Stdin)
	}
	return "", fmt.Errorf("want kubectl, start NAME kubectl, stop NAME or finish NAME")
}

// prepare returns a command with its own home directory.
func (r *Runner) prepare(ctx context.Context, arguments []string, stdin string) *exec.Cmd {
	c := exec.CommandContext(ctx, r.Kubectl, arguments...)
	c.Env = []string{"HOME=" + r.Dir, "KUBECONFIG=" + filepath.Join(r.Dir, "config"), "KUBECACHEDIR=" + filepath.Join(r.Dir, "cache"),
		"PATH=" + os.Getenv("PATH")}
	c.Stdin = strings.NewReader(stdin)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 5 * time.Second
	return c
}

// command runs a command to its end and returns standard output, followed by standard error.
func (r *Runner) command(ctx context.Context, arguments []string, stdin string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	c := r.prepare(ctx, arguments, stdin)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	output := stdout.String() + stderr.String()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return output, fmt.Errorf("did not exit within %v: %s", commandTimeout, output)
	case errors.As(err, &exit):
		return fmt.Sprintf("%sexit %d\n", output, exit.ExitCode()), nil
	}
	return output, err
}

func (r *Runner) start(ctx context.Context, name string, arguments []string, stdin string) error {
	ctx, cancel := context.WithCancel(ctx)
	c := r.prepare(ctx, arguments, stdin)
	b := &background{cancel: cancel, ended: make(chan error, 1), out: &buffer{last: time.Now()}}
	c.Stdout, c.Stderr = b.out, b.out
	if err := c.Start(); err != nil {
		cancel()
		return fmt.Errorf("start kubectl: %w", err)
	}
	go func() { b.ended <- c.Wait() }()
	r.background[name] = b
	for deadline := time.Now().Add(firstOutput); time.Now().Before(deadline); time.Sleep(poll) {
		if text, _ := b.out.read(); text != "" {
			break
		}
	}
	return nil
}

// end returns the output of a background command once it has exited, or has been quiet and was interrupted.
func (r *Runner) end(name string, interrupt bool) (string, error) {
	b := r.background[name]
	if b == nil {
		return "", fmt.Errorf("no command was started as %q", name)
	}
	delete(r.background, name)
	defer b.cancel()
	for interrupt {
		if _, last := b.out.read(); time.Since(last) > quiet {
			b.cancel()
			break
		}
		time.Sleep(poll)
	}
	select {
	case <-b.ended:
		text, _ := b.out.read()
		return text, nil
	case <-time.After(commandTimeout):
		return "", fmt.Errorf("%s did not exit within %v", name, commandTimeout)
	}
}

// split splits a line into words as a shell does, with single and double quotes.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ':
			if open || word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unclosed %c", quote)
	}
	if open || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words, nil
}

// masks replace texts that may differ between two runs.
var masks = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uid>"},
	{regexp.MustCompile(`(?m)^[IWE][0-9]{4} .*\n`), ""},
	{regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z`), "<time>"},
	{regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`), "-<suffix>"},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]+`), "<address>"},
	{regexp.MustCompile(`(?i)(resource ?version"?: +"?)[0-9]+`), "${1}<rv>"},
	{regexp.MustCompile(`(?m)( +)[0-9]+m?s(?: +|$)`), "${1}<age>   "},
}

// normalise applies masks, trims trailing space and replaces empty lines by a dot.
func normalise(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.replacement)
	}
	if text == "" {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if lines[i] = strings.TrimRight(line, " "); lines[i] == "" {
			lines[i] = "."
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
