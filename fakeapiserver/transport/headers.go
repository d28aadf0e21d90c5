package transport

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/uuid"
)

// auditID is the header that identifies a request in logs, chosen by the client or the server.
const auditID = "Audit-Id"

// Identify returns a handler that names requests as next's Handler would: for what stands before that, and may answer by itself.
func Identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		commonHeaders(w.Header(), hr)
		next.ServeHTTP(w, hr)
	})
}

// commonHeaders sets the headers of every answer. Caching is forbidden unless the answer says otherwise.
func commonHeaders(answer http.Header, hr *http.Request) {
	answer.Set("Cache-Control", "no-cache, private")
	if hr.Header.Get(auditID) == "" {
		hr.Header.Set(auditID, string(uuid.NewUUID()))
	}
	answer.Set(auditID, hr.Header.Get(auditID))
}

// compressFrom is the size in bytes from which answers are compressed for clients that accept it.
const compressFrom = 128<<10 + 1

var zippers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return z
}}

// compress returns the body as gzip, nil to send it uncompressed. OpenAPI documents are never compressed.
func compress(hr *http.Request, body *Body) []byte {
	if body.Len() < compressFrom || !acceptsGzip(hr) || strings.HasPrefix(hr.URL.Path, "/openapi/") {
		return nil
	}
	var b bytes.Buffer
	z := zippers.Get().(*gzip.Writer)
	defer zippers.Put(z)
	z.Reset(&b)
	_, writeErr := io.Copy(z, body.NewReader())
	if err := z.Close(); err != nil || writeErr != nil {
		return nil
	}
	return b.Bytes()
}

// acceptsGzip parses Accept-Encoding like a real server, which ignores qualities.
func acceptsGzip(hr *http.Request) bool {
	for token := range strings.SplitSeq(hr.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(token) == "gzip" {
			return true
		}
	}
	return false
}
