// Package api holds the properties of what passes between the apiserver and its clients: whatever the client, and whichever stack
// makes its requests. They see only the records of requests, answers and watches, so every world that has a fake apiserver can check
// them: the properties of scenarios are these, with one reflector for each connection.
//
// The package owns the followers of requests and of open watches. It must know no stack and no informer.
package api
