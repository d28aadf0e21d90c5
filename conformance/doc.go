// Command conformance sends the same requests to two apiservers and prints the differences between their answers.
//
// The reference is a real apiserver, started in this process (package realserver), or the answers recorded from one.
// The target is fakeapiserver, another real apiserver, or any running server of the conformance resources. The requests
// are the probes of package catalogue and, with --seeds, generated sequences of requests and watches. Each difference is
// printed with the script that reproduces it; the exit status is 1 if there are any.
//
//	go run . --seeds 2000                       the fake server against a real one
//	go run . --reference golden --run '^watch'  the fake server against recorded answers, some probes only
//	go run . --target real                      a real server against a real one: finds flaky probes
//	go run . --url http://127.0.0.1:8080 --control http://127.0.0.1:8081   a server in another process
//	go run . --rewrite                          records the answers of a real server
package main
