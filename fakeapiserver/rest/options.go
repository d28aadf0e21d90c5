package rest

import (
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isWatch reads ?watch: any value but false and 0 means true, as does an empty one if the key is present (S20).
func isWatch(q url.Values) bool {
	v, ok := q["watch"]
	if !ok {
		return false
	}
	return queryBool(v)
}

func queryBool(v []string) bool {
	if len(v) == 0 {
		return false
	}
	return v[0] != "0" && !strings.EqualFold(v[0], "false")
}

// maxTimeout bounds a request's timeout parameter; larger values are ignored.
const maxTimeout = time.Minute

// requestTimeout returns the timeout of everything but watches, the server's or by parameter; 0 means none. It comes before all other checks.
func (s *Server) requestTimeout(r *Request, t target) (time.Duration, error) {
	query := r.URL.Query()
	text := query.Get("timeout")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case reads && (t.watch || t.resource != "" && t.name == "" && isWatch(query)):
		return 0, nil
	case text == "":
		return s.timeout, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, apierrors.NewBadRequest("invalid timeout specified in the request URL - " + err.Error())
	}
	if d <= 0 || d >= maxTimeout {
		d = s.timeout
	}
	return d, nil
}

// listOptions reads the options of a list or watch.
func listOptions(q url.Values) (metav1.ListOptions, error) {
	o := metav1.ListOptions{
		LabelSelector: q.Get("labelSelector"), FieldSelector: q.Get("fieldSelector"),
		ResourceVersion: q.Get("resourceVersion"), ResourceVersionMatch: metav1.ResourceVersionMatch(q.Get("resourceVersionMatch")),
		Continue: q.Get("continue"), AllowWatchBookmarks: has(q, "allowWatchBookmarks") && queryBool(q["allowWatchBookmarks"]),
	}
	var err error
	if has(q, "timeoutSeconds") {
		n, err := queryInt(q, "timeoutSeconds") // before limit, like the real server
		if err != nil {
			return o, err
		}
		o.TimeoutSeconds = &n
	}
	if o.Limit, err = queryInt(q, "limit"); err != nil {
		return o, err
	}
	if has(q, "sendInitialEvents") {
		b := queryBool(q["sendInitialEvents"])
		o.SendInitialEvents = &b
	}
	return o, nil
}

func has(q url.Values, key string) bool { _, ok := q[key]; return ok }

func queryInt(q url.Values, key string) (int64, error) {
	if !has(q, key) {
		return 0, nil
	}
	text := q.Get(key)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(err.Error()) // the real server shows strconv's error too
	}
	return n, nil
}

// mediaType returns a Content-Type without its parameters.
func mediaType(header string) string {
	t, _, err := mime.ParseMediaType(header)
	if err != nil {
		return header
	}
	return t
}
