package simtest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// The flags. Each takes its default from an environment variable; the zero value of each leaves things as they are.
var flags struct {
	seeds    int
	seed     uint64
	replay   string
	traces   string
	verify   bool
	shrink   time.Duration
	pins     pins
	parallel int
	bad      error // what the environment has that no flag takes
}

func init() {
	setting(&flags.seeds, "seeds", "run `N` seeds instead of Options.Seeds", atLeastOne[int])
	setting(&flags.seed, "seed", "run only the seed `S`", atLeastOne[uint64])
	flag.StringVar(&flags.replay, "simtest.replay", os.Getenv("SIMTEST_REPLAY"), "replay only the trace in this `file`")
	flag.StringVar(&flags.traces, "simtest.traces", os.Getenv("SIMTEST_TRACES"), "keep the traces of failures, and of what Find finds, in the `folder`")
	flag.BoolVar(&flags.verify, "simtest.verify", os.Getenv("SIMTEST_VERIFY") != "", "run each seed twice and compare")
	setting(&flags.shrink, "shrink", "shrink a failure for at most this `duration`, instead of Options.Shrink; -1s disables it", shrinkTime)
	setting(&flags.parallel, "parallel", "make up to `N` runs at the same time, in as many processes", atLeastOne[int])
	flag.StringVar(&flags.pins.mix, "simtest.mix", os.Getenv("SIMTEST_MIX"), "have the faults of the mix `M` instead of those that Options say or a seed draws")
	setting(&flags.pins.crashes, "crashes", "crash processes with the probability `P` in every step; -1 for never", crashRate)
	setting(&flags.pins.replicas, "replicas", "have `N` apiservers", atLeastOne[int])
	setting(&flags.pins.history, "history", "have watch caches of `N` events; -1 for those of a real apiserver", historySize)
	flag.Var(&flags.pins.watchList, "simtest.watchlist", "have streaming lists: `on` or off")
	fromEnvironment("SIMTEST_WATCHLIST", &flags.pins.watchList)
	flag.Var(&flags.pins.interleave, "simtest.interleave", "have goroutines interleaved by the seed, in a test built with the overlay: `on` or off")
	fromEnvironment("SIMTEST_INTERLEAVE", &flags.pins.interleave)
	flag.Var(&flags.pins.mutations, "simtest.mutations", "have client-go's mutation detector watch the caches of informers: `on` or off")
	fromEnvironment("SIMTEST_MUTATIONS", &flags.pins.mutations)
}

// value is a flag's value. While it is not set, it is the zero value, and the empty text.
type value[T comparable] struct {
	set   *T
	parse func(string) (T, error)
}

// setting defines the flag simtest.NAME, with the default that SIMTEST_NAME has.
func setting[T comparable](set *T, name, usage string, parse func(string) (T, error)) {
	v := &value[T]{set, parse}
	fromEnvironment("SIMTEST_"+strings.ToUpper(name), v)
	flag.Var(v, "simtest."+name, usage)
}

// fromEnvironment sets a flag's default. What is wrong with it is for the first Run to say: there is no test to fail yet.
func fromEnvironment(name string, v flag.Value) {
	if err := v.Set(os.Getenv(name)); err != nil {
		flags.bad = errors.Join(flags.bad, fmt.Errorf("the environment has %s=%s: %w", name, os.Getenv(name), err))
	}
}

// String implements flag.Value.
func (v *value[T]) String() string {
	var unset T
	if v.set == nil || *v.set == unset {
		return ""
	}
	return fmt.Sprint(*v.set)
}

// Set implements flag.Value.
func (v *value[T]) Set(text string) (err error) {
	var x T
	if text != "" {
		if x, err = v.parse(text); err != nil {
			return err
		}
	}
	*v.set = x
	return nil
}

func atLeastOne[T int | uint64](text string) (T, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || T(n) < 1 {
		return 0, errors.New("it must be a whole number, 1 or more")
	}
	return T(n), nil
}

func historySize(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 && n != AdaptiveHistory {
		return 0, errors.New("it must be a whole number, 1 or more, or -1 for the sizes of a real apiserver")
	}
	return n, nil
}

func crashRate(text string) (float64, error) {
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || !(p > 0 && p <= 1 || p < 0) {
		return 0, errors.New("it must be a probability above 0, at most 1, or -1 for never")
	}
	return p, nil
}

func shrinkTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d == 0 {
		return 0, errors.New("it must be a duration, such as 30s, or -1s for no shrinking")
	}
	return d, nil
}
