// Command conformance asks two apiservers the same questions and prints where their answers differ.
//
// The reference is a real apiserver, started in this process (package realserver), or the answers recorded from one.
// The target is fakeapiserver, another real apiserver, or any server that is running and serves the conformance
// resources. The questions are the probes of package catalogue and, with --seeds, generated sequences of requests and
// watches. Each difference is printed with the script that shows it; the exit status is 1 when there is any.
//
//	go run . --seeds 2000                       the fake server against a real one
//	go run . --reference golden --run '^watch'  the fake server against recorded answers, some probes only
//	go run . --target real                      a real server against a real one: finds unsteady probes
//	go run . --url http://127.0.0.1:8080 --control http://127.0.0.1:8081   a server in another process
//	go run . --rewrite                          records the answers of a real server
package main
