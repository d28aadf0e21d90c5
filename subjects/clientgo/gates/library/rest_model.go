package library

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// model is what is seen of a request, and what comes of it.
func (r *requested) model() (seen []string, ends string) {
	note := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }
	before, limits, canceled := "", 0, false
	limit := func() (refused string) {
		note("limit for me")
		if limits++; limits != r.limited {
			return ""
		}
		canceled = canceled || r.limitEnds
		if r.limit == context.Canceled {
			return "canceled"
		}
		return "of the limiter: " + errLimit.Error()
	}
	after := func(what string) string {
		if before != "" && r.kind != asStream {
			return what + ", after " + before
		}
		return what
	}
	if r.kind != asWatch {
		if refused := limit(); refused != "" {
			return seen, refused
		}
	}
	pause := r.backoff
	for n := 0; ; n++ {
		if canceled {
			return seen, after("canceled")
		}
		note("pause of %v for me", pause)
		if n > 0 {
			if refused := limit(); refused != "" {
				return seen, after(refused)
			}
		}
		a := r.answers[min(n, len(r.answers)-1)]
		note("%s http://server/api/v1/pods%s", r.method, r.sends())
		canceled = canceled || n+1 == r.cancels
		note("answer %d, lost %t", a.code, a.lost.error != nil)
		wait, again := a.retryAfter(r.again(a))
		if a.ok() || r.reader || n >= r.most || !again {
			return seen, r.last(a, before)
		}
		if pause = r.backoff; wait > pause {
			pause = wait
		}
		if a.lost.error != nil {
			before = a.lost.Error()
		}
	}
}

// sends is the body of each attempt.
func (r *requested) sends() string {
	if r.body == "" {
		return ""
	}
	return fmt.Sprintf(" with %q", r.body)
}

// again reports whether a request whose connection is lost is made again.
func (r *requested) again(a answer) bool {
	switch r.kind {
	case asWatch:
		return a.lost.watch
	case asStream:
		return false
	}
	return a.lost.read && r.method == http.MethodGet
}

// last is what comes of a request with its last answer, where an attempt before had the connection lost, if any.
func (r *requested) last(a answer, before string) string {
	after := func(what string) string {
		if before != "" && before != what {
			return what + ", after " + before
		}
		return what
	}
	switch {
	case a.lost.error != nil && r.kind == asWatch && a.lost.watch:
		return ""
	case a.lost.error != nil && r.kind == asStream:
		return a.lost.Error()
	case a.lost.error != nil:
		return after(a.lost.Error())
	case a.code != http.StatusOK && r.kind == asWatch:
		return after(refusal(a, true))
	case a.code != http.StatusOK:
		return refusal(a, r.kind != asBytes)
	case r.kind == asWatch:
		return watched(a)
	case a.ends.Error() != "EOF":
		return "broken off"
	case r.kind == asObject:
		return "a"
	}
	return a.body
}

// refusal is the error of an answer; of a status it has the message, where that is read.
func refusal(a answer, read bool) string {
	if read && !a.plain {
		return fmt.Sprint(a.code, " ", said(a.code))
	}
	return fmt.Sprint(a.code)
}

// watched are the events of a watch: it ends with an error if one of them cannot be read.
func watched(a answer) string {
	var events []string
	for range strings.Count(a.body, "\n") {
		events = append(events, "ADDED a@1")
	}
	if !strings.HasSuffix(a.body, "\n") && a.body != "" {
		events = append(events, "ERROR 500")
	}
	return strings.Join(events, ", ")
}
