package library

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// model is what is seen of a request, and what comes of it.
func (r *requested) model() (seen []string, ends string) {
	note := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }
	before, limits, canceled := "", 0, false
	limit := func(again bool) (refused string) {
		// The wait for the first attempt is no part of the time that the request may take.
		note("limit for me%s", map[bool]string{true: ", who does not wait for ever"}[again && r.timed && r.kind < asStream])
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
		if refused := limit(false); refused != "" {
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
			if refused := limit(true); refused != "" {
				return seen, after(refused)
			}
		}
		a := r.answers[min(n, len(r.answers)-1)]
		note("%s http://server/api/v1/pods/a%s%s", r.method, map[bool]string{true: "?timeout=1m0s"}[r.timed], r.sends())
		canceled = canceled || n+1 == r.cancels
		note("answer %d, lost %t", a.code, a.lost.error != nil)
		wait, again := a.retryAfter(r.again(a))
		if r.wants(a) || r.reader || n >= r.most || !again {
			if r.warned(a) {
				note("warning 299 old for me")
			}
			return seen, r.final(a, before)
		}
		if pause = r.backoff; wait > pause {
			pause = wait
		}
		if a.lost.error != nil {
			before = a.lost.Error()
		}
	}
}

// takes reports whether an answer with the code is one that the request is made for.
func (r *requested) takes(code int) bool {
	switch r.kind {
	case asWatch:
		return code == http.StatusOK
	case asStream:
		return code < http.StatusMultipleChoices
	}
	return code <= http.StatusPartialContent
}

// warned reports whether a warning of the last answer is handed on: nobody looks for one beside bytes, nor where the body cannot be read.
func (r *requested) warned(a answer) bool {
	switch {
	case !a.warns || r.kind == asBytes || a.plain:
		return false
	case r.wants(a) && r.kind >= asStream:
		return true
	}
	return a.ends.Error() == "EOF"
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

// final is what comes of a request with its last answer, where an attempt before had the connection lost, if any.
func (r *requested) final(a answer, before string) string {
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
	case r.wants(a) && r.kind == asWatch:
		return watched(a)
	case a.ends.Error() != "EOF" && r.kind == asWatch:
		return after("broken off")
	case a.ends.Error() != "EOF":
		return "broken off"
	case a.code < http.StatusMultipleChoices && r.kind == asWatch:
		return after(fmt.Sprint("status ", a.code))
	case !r.wants(a) && r.kind == asWatch:
		return after(r.refusal(a))
	case !r.wants(a):
		return r.refusal(a)
	case r.kind < asBytes:
		return r.object(a)
	}
	return a.body
}

// object is what is read of an answer: a status that is no success is an error, whatever the answer's code.
func (r *requested) object(a answer) string {
	switch {
	case strings.Contains(a.body, "Failure"):
		return fmt.Sprint(http.StatusConflict, " ", said(http.StatusConflict))
	case a.body == successJSON:
		return map[bool]string{true: "Success"}[r.kind == asWhatever]
	case r.kind == asWhatever:
		return "a@1"
	}
	return "a"
}

// refusal is the error of an answer: what its status says, or else what the answer itself does, as far as it is text, and when to come again.
func (r *requested) refusal(a answer) string {
	if r.kind != asBytes && !a.plain && a.body != "" {
		return fmt.Sprint(a.code, " ", said(a.code))
	}
	says := "unknown"
	if a.plain || a.untyped {
		says = strings.TrimSpace(a.body)
	}
	seconds, _ := strconv.Atoi(a.after) // 0 if it is no number
	return fmt.Sprintf("%d of pods a, which says %q, again in %d", a.code, says, seconds)
}

// watched are the events of a watch: it ends with an error if one of them cannot be read.
func watched(a answer) string {
	var events []string
	frames := strings.Split(a.body, "\n")
	for _, frame := range frames[:len(frames)-1] {
		kind, _, _ := strings.Cut(strings.TrimPrefix(frame, `{"type":"`), `"`)
		events = append(events, kind+map[bool]string{true: " 410", false: " a@1"}[kind == "ERROR"])
	}
	if frames[len(frames)-1] != "" {
		events = append(events, "ERROR 500")
	}
	return strings.Join(events, ", ")
}
