package wellbehaved

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
)

// Writing names what a client writes, in a form that two runs have in common which go the same way up to there.
type Writing string

// Blindly names what a client does to objects of a resource, for NoMistakenAbsence: a name may be another one each time.
func (q *Request) Blindly(client, resource string) Writing {
	return Writing(client + " " + q.Method + " " + resource)
}

// Hastily names a request of a client, with what it says, for NoHastyWrite: the same status is written at each start, but says something else where the cache lacks objects.
func (q *Request) Hastily(client string) Writing {
	id, body := sentAsOf(0, q), []byte(q.Body)
	var object map[string]any
	if json.Unmarshal(body, &object) == nil {
		if m, is := object["metadata"].(map[string]any); is { // these are of what was read
			delete(m, "resourceVersion")
			delete(m, "managedFields")
		}
		if text, err := json.Marshal(object); err == nil {
			body = text
		}
	}
	sum := fnv.New64a()
	_, _ = sum.Write(body)
	return Writing(fmt.Sprintf("%s %s %s %s %x", client, id.method, id.path, id.name, sum.Sum64()))
}
