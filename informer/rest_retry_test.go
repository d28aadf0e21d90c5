package informer

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestI36RetryAfterIsHonouredTenTimes(t *testing.T) {
	busy := apierrors.NewTooManyRequests("busy", 3)
	for _, isWatch := range []bool{false, true} {
		r := &RESTRetry{Watch: isWatch}
		now := t0
		for i := range DefaultRESTRetries {
			d := r.OnAnswer(RESTAnswerOf(busy), now)
			if d.Action != RESTRetryAt || !d.At.Equal(now.Add(3*time.Second)) {
				t.Fatalf("watch=%v attempt %d: %+v, want a retry in 3s", isWatch, i+1, d)
			}
			now = d.At
		}
		if d := r.OnAnswer(RESTAnswerOf(busy), now); d.Action != RESTFail || d.Err != busy {
			t.Fatalf("watch=%v: the eleventh answer gave %+v, want the error", isWatch, d)
		}
		if r.Attempts() != 11 {
			t.Errorf("watch=%v: %d attempts", isWatch, r.Attempts())
		}
	}
}

func TestI36WhatIsRetried(t *testing.T) {
	response := func(code, after int) RESTAnswer {
		return RESTAnswer{Err: apierrors.NewGenericServerResponse(code, "GET", noResource, "", "", 0, true),
			StatusCode: code, RetryAfter: after, HasRetryAfter: after >= 0}
	}
	wrapped := func(err error) RESTAnswer {
		return RESTAnswerOf(&url.Error{Op: "Get", URL: "https://server", Err: err})
	}
	for name, c := range map[string]struct {
		answer      RESTAnswer
		list, watch RESTAction
		wait        time.Duration
	}{
		"429 with Retry-After":    {response(429, 2), RESTRetryAt, RESTRetryAt, 2 * time.Second},
		"503 with Retry-After":    {response(503, 1), RESTRetryAt, RESTRetryAt, time.Second},
		"429 with Retry-After: 0": {response(429, 0), RESTRetryAt, RESTRetryAt, 0},
		"429":                     {response(429, -1), RESTFail, RESTFail, 0},
		"500":                     {response(500, -1), RESTFail, RESTFail, 0},
		"410 with Retry-After":    {response(410, 1), RESTFail, RESTFail, 0},
		"EOF":                     {wrapped(io.EOF), RESTRetryAt, RESTRetryAt, time.Second},
		"unexpected EOF":          {wrapped(io.ErrUnexpectedEOF), RESTRetryAt, RESTRetryAt, time.Second},
		"connection reset":        {wrapped(&os.SyscallError{Syscall: "read", Err: syscall.ECONNRESET}), RESTRetryAt, RESTRetryAt, time.Second},
		"http2 lost":              {wrapped(errors.New("http2: client connection lost")), RESTRetryAt, RESTFail, time.Second},
		"timeout":                 {wrapped(os.ErrDeadlineExceeded), RESTFail, RESTRetryAt, time.Second},
		"connection refused":      {wrapped(&os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}), RESTFail, RESTFail, 0},
		"success":                 {RESTAnswer{}, RESTSucceed, RESTSucceed, 0},
	} {
		for _, isWatch := range []bool{false, true} {
			want := c.list
			if isWatch {
				want = c.watch
			}
			d := (&RESTRetry{Watch: isWatch}).OnAnswer(c.answer, t0)
			if d.Action != want || (want == RESTRetryAt && !d.At.Equal(t0.Add(c.wait))) {
				t.Errorf("%s, watch=%v: %+v, want action %d after %v", name, isWatch, d, want, c.wait)
			}
		}
	}
}

func TestI36PersistentEOFIsAnEmptyWatch(t *testing.T) {
	for _, isWatch := range []bool{false, true} {
		r := &RESTRetry{Watch: isWatch, MaxRetries: 2}
		var d RESTDecision
		for range 3 {
			d = r.OnAnswer(RESTAnswerOf(io.EOF), t0)
		}
		if isWatch && d.Action != RESTEmptyWatch {
			t.Errorf("watch: %+v, want an empty watch", d)
		}
		if !isWatch && (d.Action != RESTFail || d.Err != io.EOF) {
			t.Errorf("list: %+v, want the EOF", d)
		}
	}
	if d := (&RESTRetry{Watch: true, MaxRetries: -1}).OnAnswer(RESTAnswerOf(io.EOF), t0); d.Action != RESTEmptyWatch {
		t.Errorf("without retries: %+v", d)
	}
}

func TestRESTRetryNamesAnEarlierError(t *testing.T) {
	r := &RESTRetry{}
	r.OnAnswer(RESTAnswerOf(&url.Error{Op: "Get", URL: "https://server", Err: io.EOF}), t0)
	d := r.OnAnswer(RESTAnswerOf(errBoom), t0)
	if d.Action != RESTFail || !errors.Is(d.Err, errBoom) || d.Err.Error() != "boom - error from a previous attempt: EOF" {
		t.Errorf("got %v", d.Err)
	}
	final := apierrors.NewForbidden(noResource, "x", fmt.Errorf("no"))
	r = &RESTRetry{}
	r.OnAnswer(RESTAnswerOf(io.EOF), t0)
	if d := r.OnAnswer(RESTAnswerOf(final), t0); d.Err != final {
		t.Errorf("a list's response must not be wrapped, got %v", d.Err)
	}
	if RESTAnswerOf(final).StatusCode != http.StatusForbidden {
		t.Error("wrong status code")
	}
}
