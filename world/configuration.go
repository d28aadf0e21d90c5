package world

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// configuration is what a run has of the things that a test's options may leave to its seed. A trace has it in its header, and a replay
// takes it from there.
type configuration struct {
	mix        fault.Mix
	crashes    float64 // the probability of one in every step
	maxCrashes int
	replicas   int
	history    int64                 // as in fakeapiserver.ClusterOptions
	watchList  bool                  // the server has streaming lists
	podFaults  bool                  // Pods and nodes fail, too
	likely     string                // the fault that most Pods meet then; "" for none
	interleave bool                  // the seed interleaves the goroutines of the test's process
	detect     bool                  // client-go's mutation detector watches the caches of informers there
	restarts   bool                  // controllers may be restarted after the body
	leap       int                   // after how many writes the next resourceVersion has a digit more; 0 for never
	probe      int                   // which of its writes controllers are probed with, of those that there are; 0 for several at once
	later      time.Duration         // by how much controllers are left alone for longer before the run does something to them
	spared     bool                  // the gets that fail at the end for NoMistakenAbsence are answered, the lists that come late for NoHastyWrite come at once, and those that are old for NoStaleDelete are new
	anyway     []wellbehaved.Writing // what controllers write then even so
}

// In the header's options: the parts of a configuration.
const (
	optionCrashes    = "crashes"
	optionMaxCrashes = "maxCrashes"
	optionReplicas   = "replicas"
	optionHistory    = "history"
	optionWatchList  = "watchList"
	optionPodFaults  = "podFaults"
	optionLikely     = "likelyStage"
	optionInterleave = "interleave"
	optionDetect     = "mutationDetector"
	optionRestarts   = "restarts"
	optionLeap       = "leap"
	optionProbe      = "probe"
	optionLater      = "later"
	optionSpared     = "spared"
	optionAnyway     = "anyway"
)

// The mixes of the seeds 1 to 4; the next four have the same, and so on. The first two are sure to have every kind between them. Only
// every fourth is a storm: many faults hide mistakes that the next relist or retry makes good.
var mixCycle = [4]string{"edges", "edges", "default", "storm"}

// What a seed draws from.
var (
	drawnCrashes    = [3]float64{1.0 / 512, 1.0 / 128, 1.0 / 64}
	drawnMaxCrashes = [3]int{1, 3, 10}
	drawnReplicas   = [4]int{1, 2, 2, 3}
	drawnLeaps      = [4]int{1, 2, 4, 8}
	drawnHistories  = [6]int64{fakeapiserver.AdaptiveHistory, fakeapiserver.AdaptiveHistory, 2, 4, 8, 16}
	// What Pods rarely meet by themselves, of the set "pod-faults". In half of the runs with Pods that fail, one of these is frequent.
	drawnLikely = [6]string{"", "", "", "pod-evicted", "pod-evicted", "pod-fail"}
)

// manyProbes is a multiple of as many writes as a controller may have.
const manyProbes = 2 * 3 * 4 * 5 * 7

// laggingRate is the rate of replica-lag in a run whose replicas lag most of the time.
const laggingRate = 1.0 / 8

// defaultMaxCrashes is the number of crashes in a run for which nothing else is said or drawn.
const defaultMaxCrashes = 3

// configure returns the configuration of a seed: what the options say, and the seed's own draw of what they leave open.
func configure(o *options, seed uint64) (configuration, error) {
	c := configuration{
		crashes: max(o.CrashProbability, 0), maxCrashes: cmp.Or(o.MaxCrashes, defaultMaxCrashes), replicas: max(o.Replicas, 1), history: o.History,
		watchList: o.WatchList >= 0, interleave: o.Interleave > 0, detect: o.MutationDetector > 0 || o.MutationDetector == 0 && seed%4 == 3,
		// Where a process may crash it can be restarted, also in seeds in which none crashes.
		restarts: o.CrashProbability > 0 || o.CrashProbability == 0 && (o.mix == nil || o.DrawRest),
	}
	// Eight seeds after eight without, in a row, so that they come to each of a few writes; and 32 later the other way round, so that each comes with all else that is drawn.
	if (seed/8+seed/32)%2 == 1 {
		c.probe = 1 + int((seed/16*8+seed%8)%manyProbes)
	}
	withWebhooks := func(m fault.Mix) fault.Mix {
		if o.Webhooks && o.FaultMix == nil {
			return m.WithWebhooks()
		}
		return m
	}
	if o.mix != nil {
		c.mix = withWebhooks(*o.mix).DrawHalf(seed)
	}
	if o.mix != nil && !o.DrawRest {
		return c, nil
	}
	mix, err := fault.MixNamed(mixCycle[(seed+3)%4])
	if err != nil {
		return c, err
	}
	// Of two seeds, the coins make one do the opposite of the other, like the kinds of faults. Everything is drawn, whether it is needed
	// or not, so that what is pinned does not change the rest.
	coins, s := sim.NewStream((seed+1)/2, "configuration/coins"), sim.NewStream(seed, "configuration")
	side := int(seed & 1)
	crashing, watchList, lagging := coins.IntN(2) == side, coins.IntN(2) == side, coins.IntN(2) == side
	crashes, maxCrashes := drawnCrashes[s.IntN(len(drawnCrashes))], drawnMaxCrashes[s.IntN(len(drawnMaxCrashes))]
	replicas, history := drawnReplicas[s.IntN(len(drawnReplicas))], drawnHistories[s.IntN(len(drawnHistories))]

	if o.mix == nil {
		if mix = withWebhooks(mix); seed/16%2 == 1 {
			mix = mix.WithOthers() // not the first seeds: what is found without that reads better
		}
		c.mix = mix.DrawHalf(seed)
		if lagging {
			c.mix.Rates[string(fault.ReplicaLag)] = laggingRate
		}
	}
	if o.WatchList == 0 {
		c.watchList = watchList
	}
	if o.Interleave == 0 && o.seeded {
		// A stream of its own, because the others' draws are those of tests that are built without the overlay.
		c.interleave = sim.NewStream((seed+1)/2, "configuration/interleave").IntN(2) == side
	}
	if c.podFaults = o.mix == nil && o.Nodes > 0 && o.Stages == nil && coins.IntN(2) == side; c.podFaults {
		c.likely = drawnLikely[sim.NewStream(seed, "configuration/stages").IntN(len(drawnLikely))]
	}
	// Half of the seeds with each mix have these, and not the first, since what that finds is to read well.
	if (seed%2 == 0) != (seed/4%2 == 1) {
		c.leap = drawnLeaps[(seed/8+seed%8/2)%uint64(len(drawnLeaps))]
	}
	if o.CrashProbability == 0 && crashing {
		c.crashes = crashes
	}
	if o.MaxCrashes == 0 {
		c.maxCrashes = maxCrashes
	}
	if o.Replicas == 0 {
		c.replicas = replicas
	}
	if o.History == 0 {
		c.history = history
	}
	return c, nil
}

// write adds the configuration to a trace's header.
func (c *configuration) write(h *sim.Header) (err error) {
	h.Options[optionCrashes] = strconv.FormatFloat(c.crashes, 'g', -1, 64)
	h.Options[optionMaxCrashes] = strconv.Itoa(c.maxCrashes)
	h.Options[optionReplicas] = strconv.Itoa(c.replicas)
	h.Options[optionHistory] = strconv.FormatInt(c.history, 10)
	h.Options[optionWatchList] = strconv.FormatBool(c.watchList)
	if c.podFaults {
		h.Options[optionPodFaults] = strconv.FormatBool(true)
	}
	if c.likely != "" {
		h.Options[optionLikely] = c.likely
	}
	if c.interleave {
		h.Options[optionInterleave] = strconv.FormatBool(true)
	}
	if c.detect {
		h.Options[optionDetect] = strconv.FormatBool(true)
	}
	if c.restarts {
		h.Options[optionRestarts] = strconv.FormatBool(true)
	}
	if c.leap > 0 {
		h.Options[optionLeap] = strconv.Itoa(c.leap)
	}
	if c.probe > 0 {
		h.Options[optionProbe] = strconv.Itoa(c.probe)
	}
	if c.later > 0 {
		h.Options[optionLater] = c.later.String()
	}
	if c.spared {
		h.Options[optionSpared] = strconv.FormatBool(true)
	}
	if len(c.anyway) > 0 {
		h.Options[optionAnyway] = listed(c.anyway)
	}
	h.Mix, err = json.Marshal(c.mix)
	return err
}

// readConfiguration returns the configuration in a trace's header.
func readConfiguration(h *sim.Header) (c configuration, err error) {
	read := func(name string, parse func(text string) error) {
		if err == nil {
			if e := parse(h.Options[name]); e != nil {
				err = fmt.Errorf("the trace's header: option %s: %w", name, e)
			}
		}
	}
	if c.mix, err = fault.ParseMix(h.Mix); err != nil {
		return c, fmt.Errorf("the trace's header: %w", err)
	}
	read(optionCrashes, func(text string) (err error) { c.crashes, err = strconv.ParseFloat(text, 64); return err })
	read(optionMaxCrashes, func(text string) (err error) { c.maxCrashes, err = strconv.Atoi(text); return err })
	read(optionReplicas, func(text string) (err error) { c.replicas, err = strconv.Atoi(text); return err })
	read(optionHistory, func(text string) (err error) { c.history, err = strconv.ParseInt(text, 10, 64); return err })
	read(optionWatchList, func(text string) (err error) {
		if text == "" { // traces from before this option existed
			text = "true"
		}
		c.watchList, err = strconv.ParseBool(text)
		return err
	})
	if h.Options[optionLeap] != "" {
		read(optionLeap, func(text string) (err error) { c.leap, err = strconv.Atoi(text); return err })
	}
	if h.Options[optionProbe] != "" {
		read(optionProbe, func(text string) (err error) {
			if c.probe, err = strconv.Atoi(text); err == nil && c.probe < 1 {
				err = fmt.Errorf("%d is less than 1", c.probe)
			}
			return err
		})
	}
	if h.Options[optionLater] != "" {
		read(optionLater, func(text string) (err error) { c.later, err = time.ParseDuration(text); return err })
	}
	if h.Options[optionAnyway] != "" {
		read(optionAnyway, func(text string) error { return json.Unmarshal([]byte(text), &c.anyway) })
	}
	c.spared = h.Options[optionSpared] != ""
	c.podFaults, c.likely = h.Options[optionPodFaults] != "", h.Options[optionLikely]
	c.interleave, c.detect, c.restarts = interleaves(h), detectsMutations(h), h.Options[optionRestarts] != ""
	return c, err
}

// interleaves reports whether the goroutines of the run with this header are interleaved.
func interleaves(h *sim.Header) bool { return h.Options[optionInterleave] != "" }

// detectsMutations reports whether the caches of the run with this header are watched. It is no circumstance that a failure depends on, so reports do not have it.
func detectsMutations(h *sim.Header) bool { return h.Options[optionDetect] != "" }

// listed writes what controllers write as an option.
func listed(all []wellbehaved.Writing) string {
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings always can be
	}
	return string(text)
}

// String names the configuration in a report, which has the mix in another place.
func (c *configuration) String() string {
	replicas := reports.Counted(c.replicas, "replica")
	if c.mix.Rates[string(fault.ReplicaLag)] >= laggingRate {
		replicas = reports.Counted(c.replicas, "lagging replica")
	}
	parts := []string{replicas}
	if c.history > 0 {
		parts = append(parts, fmt.Sprintf("watch caches of %s", reports.Counted(int(c.history), "event")))
	}
	if !c.watchList {
		parts = append(parts, "no streaming lists")
	}
	if c.podFaults {
		fail := "Pods and nodes that fail"
		if c.likely != "" {
			fail += ", most by " + c.likely
		}
		parts = append(parts, fail)
	}
	if c.interleave {
		parts = append(parts, "goroutines interleaved")
	}
	if c.crashes > 0 {
		parts = append(parts, fmt.Sprintf("crashes (%.2g per step, at most %d)", c.crashes, c.maxCrashes))
	}
	switch {
	case c.leap == 1:
		parts = append(parts, "resourceVersions that leap with every write")
	case c.leap > 1:
		parts = append(parts, fmt.Sprintf("resourceVersions that leap every %d writes", c.leap))
	}
	if c.later > 0 {
		parts = append(parts, fmt.Sprintf("%v longer without faults", c.later))
	}
	return strings.Join(parts, ", ")
}
