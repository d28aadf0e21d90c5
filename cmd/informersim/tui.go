package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/tui"
)

func newTUICommand() *cobra.Command {
	return &cobra.Command{
		Use:   "tui TRACE",
		Short: "Step through a trace in the terminal, forwards and backwards",
		Long: `tui shows the run of a trace in the terminal: the steps, and at the cursor what the step did and the state of every part after it: the
store, connections, the reflector, its queue, the Indexer, handlers and work queues. It begins at the violation.

Keys: ↑ ↓ a step back and on, f F the next fault and the one before, v the violation, / searches for an object or anything else, n N the
next match and the one before, c only what the step changes, ] [ scroll, ? help, q quit.

It is made from the trace alone, of a scenario or of a Go test; nothing is run. NO_COLOR turns colors off. Without a terminal, use
informersim explain and informersim replay --step, which print the same.

Exit codes: 0 the user has left, 2 bad input.`,
		Example: `  informersim tui my-seed7.trace.jsonl`,
		Args:    cli.Usage(cobra.ExactArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return browse(c, args[0]) },
	}
}

// browse shows a trace until the user leaves.
func browse(c *cobra.Command, path string) error {
	out := c.OutOrStdout()
	if plain, ok := out.(*reports.PlainWriter); ok {
		out = under(plain)
	}
	in, isIn := c.InOrStdin().(*os.File)
	screen, isOut := out.(*os.File)
	if !isIn || !isOut || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(screen.Fd())) || os.Getenv("TERM") == "dumb" {
		name := reports.ShellPath(path)
		return fmt.Errorf("tui needs a terminal, and standard input or output is none: informersim explain %s and informersim replay %s --step N print the same", name, name)
	}
	t, err := timelineOf(path)
	if err != nil {
		return err
	}
	return show(c.Context(), in, screen, tui.New(t, os.Getenv("NO_COLOR") == ""))
}

// What a terminal is told: another screen without a cursor and without lines that wrap, and back.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// sizeEvery is how often the terminal is asked for its size: not every system tells.
const sizeEvery = 100 * time.Millisecond

// show draws a model whenever a key or a new size changes it.
func show(ctx context.Context, in, screen *os.File, m *tui.Model) (err error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("the terminal: %w", err)
	}
	defer func() {
		_, left := io.WriteString(screen, leaveScreen)
		err = errors.Join(err, left, term.Restore(int(in.Fd()), before))
	}()
	if _, err := io.WriteString(screen, enterScreen); err != nil {
		return err
	}
	pressed := make(chan []tui.Key)
	go read(in, pressed)
	tick := time.NewTicker(sizeEvery)
	defer tick.Stop()
	var width, height int
	for {
		w, h, err := term.GetSize(int(screen.Fd()))
		if err != nil || w < 1 || h < 1 {
			w, h = 80, 24 // a terminal that does not know
		}
		if w != width || h != height {
			width, height = w, h
			m.Resize(w, h)
			if err := draw(screen, m); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		case keys, ok := <-pressed:
			if !ok {
				return nil // the terminal is gone
			}
			for _, k := range keys {
				if m.Press(k) {
					return nil
				}
			}
			if err := draw(screen, m); err != nil {
				return err
			}
		}
	}
}

// draw writes the whole screen at once.
func draw(w io.Writer, m *tui.Model) error {
	const clear = "\x1b[2K" // before the text: after it, that would take away the last column
	_, err := io.WriteString(w, "\x1b[H"+clear+strings.ReplaceAll(m.View(), "\n", "\r\n"+clear))
	return err
}

// read passes on what is typed, until there is no more.
func read(in io.Reader, pressed chan<- []tui.Key) {
	defer close(pressed)
	buf := make([]byte, 256)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			pressed <- keysIn(string(buf[:n]))
		}
		if err != nil {
			return
		}
	}
}

// sequences are what terminals send for keys that are no characters, without the escape before them.
var sequences = map[string]tui.Key{
	"[A": tui.Up, "[B": tui.Down, "[C": tui.Right, "[D": tui.Left, "OA": tui.Up, "OB": tui.Down, "OC": tui.Right, "OD": tui.Left,
	"[5~": tui.PageUp, "[6~": tui.PageDown, "[H": tui.Home, "[F": tui.End, "OH": tui.Home, "OF": tui.End,
	"[1~": tui.Home, "[4~": tui.End, "[7~": tui.Home, "[8~": tui.End,
}

// keysIn are the keys in what was read at once; terminals write a sequence in one piece, so that an escape alone is the key. What is
// not known is left out.
func keysIn(text string) (keys []tui.Key) {
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '\x1b':
			k, n := sequence(text[1:])
			if size += n; k != "" {
				keys = append(keys, k)
			}
		case r == '\r' || r == '\n':
			keys = append(keys, tui.Enter)
		case r == 0x7f || r == '\b':
			keys = append(keys, tui.Backspace)
		case r == 3 || r == 4:
			keys = append(keys, tui.Interrupt)
		case r >= ' ' && r != utf8.RuneError:
			keys = append(keys, tui.Key(text[:size]))
		}
		text = text[size:]
	}
	return keys
}

// sequence returns the key that follows an escape, "" for one that is not known, and how long that is.
func sequence(text string) (tui.Key, int) {
	if text == "" || text[0] != '[' && text[0] != 'O' {
		return tui.Escape, 0
	}
	for n := 1; n < len(text); n++ {
		if c := text[n]; c >= '@' && c <= '~' {
			return sequences[text[:n+1]], n + 1
		}
	}
	return "", len(text)
}
