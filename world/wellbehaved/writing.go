package wellbehaved

// Writing names what a client writes, in a form that two runs have in common which go the same way up to there.
type Writing string

// Blindly names what a client does to objects of a resource, for NoMistakenAbsence: a name may be another one each time.
func (q *Request) Blindly(client, resource string) Writing {
	return Writing(client + " " + q.Method + " " + resource)
}

// Hastily names a request of a client, for NoHastyWrite.
func (q *Request) Hastily(client string) Writing {
	id := sentAsOf(0, q)
	return Writing(client + " " + id.method + " " + id.path + " " + id.name)
}
