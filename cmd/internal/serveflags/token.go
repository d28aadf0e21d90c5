package serveflags

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/informersim/informersim/cmd/internal/cli"
)

// maxToken limits a token, in bytes: a server takes headers of 1 MiB at most.
const maxToken = 64 << 10

// checkTokenFlags refuses an impossible --token. The file of --token-file may be a pipe, which only the server reads.
func (f *Flags) checkTokenFlags(token, file bool) error {
	switch {
	case token && file:
		return errors.New("--token and --token-file exclude each other: give one of them")
	case file && f.TokenFile == "":
		return errors.New("--token-file names no file: give it one, or leave it out to serve without a token")
	case token:
		return checkToken("--token", f.Token)
	}
	return nil
}

// ReadToken reads the file of --token-file, if there is one, into Token, unless ctx ends
// first.
func (f *Flags) ReadToken(ctx context.Context) error {
	if f.TokenFile == "" {
		return nil
	}
	file, err := cli.Open(ctx, f.TokenFile)
	if err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxToken+2)) // the end of its line is not part of it
	if err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if err := checkToken("--token-file "+f.TokenFile, token); err != nil {
		return err
	}
	f.Token = token
	return nil
}

// checkToken refuses a token that no request could present in a header, or that guards nothing. It does not show the token.
func checkToken(flag, token string) error {
	if strings.TrimSpace(token) == "" {
		return fmt.Errorf("%s is blank: give a token, or leave it out to serve without one", flag)
	}
	if len(token) > maxToken {
		return fmt.Errorf("%s is longer than %d bytes: no request could present it", flag, maxToken)
	}
	for i := range len(token) {
		what := ""
		switch b := token[i]; {
		case b == '\r' || b == '\n':
			what = "a line break"
		case b == ' ':
			what = "a space"
		case b < ' ' || b == 0x7f:
			what = "a control character"
		case b > 0x7f:
			what = "a character outside of ASCII"
		default:
			continue
		}
		return fmt.Errorf("%s has %s at byte %d: no header could carry it; use letters, digits and punctuation", flag, what, i+1)
	}
	return nil
}
