package simtest

import (
	"flag"
	"os"
	"strconv"
	"time"
)

// The flags. Each has a twin in the environment, which the flag goes before.
var flags struct {
	seeds  int
	seed   uint64
	replay string
	verify bool
	shrink time.Duration
}

func init() {
	flag.IntVar(&flags.seeds, "simtest.seeds", intEnv("SIMTEST_SEEDS"), "run `N` seeds instead of what Options.Seeds says")
	flag.Uint64Var(&flags.seed, "simtest.seed", uintEnv("SIMTEST_SEED"), "run just the seed `S`")
	flag.StringVar(&flags.replay, "simtest.replay", os.Getenv("SIMTEST_REPLAY"), "replay just this trace `file`")
	flag.BoolVar(&flags.verify, "simtest.verify", os.Getenv("SIMTEST_VERIFY") != "", "run each seed twice and compare")
	flag.DurationVar(&flags.shrink, "simtest.shrink", durationEnv("SIMTEST_SHRINK"), "make a failure simpler for this `long`, instead of what Options.Shrink says; -1s for not at all")
}

// A value in the environment that is no number is that of a flag that was not given.
func intEnv(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return 0
	}
	return n
}

func uintEnv(name string) uint64 {
	n, err := strconv.ParseUint(os.Getenv(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func durationEnv(name string) time.Duration {
	d, err := time.ParseDuration(os.Getenv(name))
	if err != nil {
		return 0
	}
	return d
}
