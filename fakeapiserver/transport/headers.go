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

// auditID is the header that names a request in logs: the client's choice, or the server's.
const auditID = "Audit-Id"

// commonHeaders are those of every answer. Nothing may be kept by a cache unless the answer says otherwise.
func commonHeaders(answer http.Header, hr *http.Request) {
	answer.Set("Cache-Control", "no-cache, private")
	id := hr.Header.Get(auditID)
	if id == "" {
		id = string(uuid.NewUUID())
	}
	answer.Set(auditID, id)
}

// compressFrom is from how many bytes on an answer is compressed, if the client can read that.
const compressFrom = 128<<10 + 1

var zippers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is one that there is
	return z
}}

// compress is the body as gzip, nil if it is to be sent as it is. Documents of OpenAPI are never compressed.
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

// acceptsGzip reads Accept-Encoding as a real server does, which knows no qualities.
func acceptsGzip(hr *http.Request) bool {
	for token := range strings.SplitSeq(hr.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(token) == "gzip" {
			return true
		}
	}
	return false
}
