package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/informersim/informersim/internal/mutation"
	"github.com/informersim/informersim/properties/requests"
)

func main() {
	first := flag.Uint64("first", 1, "the first seed")
	runs := flag.Uint64("runs", 1, "how many seeds to run at most")
	for _, name := range []string{"subject", "shrink", "timeout", "interleave"} {
		flag.String(name, "", "a flag of the other driver: there are no informers here, and nothing to shrink")
	}
	flag.Parse()
	if err := search(*first, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "requests:", err)
		os.Exit(2)
	}
}

// search makes the rounds of the seeds until an answer is wrong.
func search(first, runs uint64) error {
	started := time.Now()
	out := json.NewEncoder(os.Stdout)
	for seed := first; seed < first+runs; seed++ {
		if err := out.Encode(mutation.Answer{Seed: seed}); err != nil { // now: the round may end the process
			return err
		}
		if wrong := requests.Check(seed); wrong != "" {
			found := &mutation.Found{Seed: seed, Property: requests.Property, Message: wrong, Seconds: time.Since(started).Seconds()}
			return out.Encode(mutation.Answer{Seed: seed, Found: found})
		}
	}
	return out.Encode(mutation.Answer{Done: true})
}
