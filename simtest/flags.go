package simtest

import (
	"flag"
	"os"
	"strconv"
	"time"
)

// The flags. Each takes its default from an environment variable.
var flags struct {
	seeds    int
	seed     uint64
	replay   string
	traces   string
	verify   bool
	shrink   time.Duration
	pins     pins
	parallel int
}

func init() {
	flag.IntVar(&flags.seeds, "simtest.seeds", intEnv("SIMTEST_SEEDS"), "run `N` seeds instead of Options.Seeds")
	flag.Uint64Var(&flags.seed, "simtest.seed", uintEnv("SIMTEST_SEED"), "run only the seed `S`")
	flag.StringVar(&flags.replay, "simtest.replay", os.Getenv("SIMTEST_REPLAY"), "replay only the trace in this `file`")
	flag.StringVar(&flags.traces, "simtest.traces", os.Getenv("SIMTEST_TRACES"), "keep the traces of failures, and of what Find finds, in the `folder`")
	flag.BoolVar(&flags.verify, "simtest.verify", os.Getenv("SIMTEST_VERIFY") != "", "run each seed twice and compare")
	flag.DurationVar(&flags.shrink, "simtest.shrink", durationEnv("SIMTEST_SHRINK"), "shrink a failure for at most this `duration`, instead of Options.Shrink; -1s disables it")
	flag.IntVar(&flags.parallel, "simtest.parallel", intEnv("SIMTEST_PARALLEL"), "make up to `N` runs at the same time, in as many processes")
	flag.StringVar(&flags.pins.mix, "simtest.mix", os.Getenv("SIMTEST_MIX"), "have the faults of the mix `M` instead of those that Options say or a seed draws")
	flag.Float64Var(&flags.pins.crashes, "simtest.crashes", floatEnv("SIMTEST_CRASHES"), "crash processes with the probability `P` in every step; -1 for never")
	flag.IntVar(&flags.pins.replicas, "simtest.replicas", intEnv("SIMTEST_REPLICAS"), "have `N` apiservers")
	flag.Int64Var(&flags.pins.history, "simtest.history", int64(intEnv("SIMTEST_HISTORY")), "have watch caches of `N` events; -1 for those of a real apiserver")
	_ = flags.pins.watchList.Set(os.Getenv("SIMTEST_WATCHLIST"))
	flag.Var(&flags.pins.watchList, "simtest.watchlist", "have streaming lists: `on` or off")
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

func floatEnv(name string) float64 {
	x, err := strconv.ParseFloat(os.Getenv(name), 64)
	if err != nil {
		return 0
	}
	return x
}

func durationEnv(name string) time.Duration {
	d, err := time.ParseDuration(os.Getenv(name))
	if err != nil {
		return 0
	}
	return d
}
