// Command requests asks the fake apiserver that it is linked into: it makes rounds of requests to its REST API, seed after seed, until WritesAgree breaks. Package mutation
// links it with a mutant of what the other driver does not link, and reads its answers, lines of JSON.
package main
