package simtest

import (
	"flag"
	"os"
	"strconv"
	"time"
)

// The flags. Each takes its default from an environment variable.
var flags struct {
	seeds  int
	seed   uint64
	replay string
	verify bool
	shrink time.Duration
}

func init() {
	flag.IntVar(&flags.seeds, "simtest.seeds", intEnv("SIMTEST_SEEDS"), "run `N` seeds instead of Options.Seeds")
	flag.Uint64Var(&flags.seed, "simtest.seed", uintEnv("SIMTEST_SEED"), "run only the seed `S`")
	flag.StringVar(&flags.replay, "simtest.replay", os.Getenv("SIMTEST_REPLAY"), "replay only the trace in this `file`")
	flag.BoolVar(&flags.verify, "simtest.verify", os.Getenv("SIMTEST_VERIFY") != "", "run each seed twice and compare")
	flag.DurationVar(&flags.shrink, "simtest.shrink", durationEnv("SIMTEST_SHRINK"), "shrink a failure for at most this `duration`, instead of Options.Shrink; -1s disables it")
}

// A malformed value in the environment counts as unset.
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
