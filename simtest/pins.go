package simtest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// pins are what flags fix of the things that a seed draws otherwise. The zero value of a field fixes nothing.
type pins struct {
	mix        string
	crashes    float64
	replicas   int
	history    int64
	watchList  Setting
	interleave Setting
	mutations  Setting
}

// apply puts the pins in the place of options, and returns them as they stand on a command line, each after a space. A mix that a flag
// names fixes nothing but the faults: what else the seed draws stays as it is, so that a failure can be tried without some of it. Strategy
// fifo has neither faults nor crashes.
func (p *pins) apply(o *wire.Options) string {
	var line strings.Builder
	pin := func(name, value string) { fmt.Fprintf(&line, " -simtest.%s=%s", name, shellQuote(value)) }
	fifo := o.Strategy == "fifo"
	if p.mix != "" && !fifo {
		o.DrawRest = o.Mix == "" && o.FaultMix == nil
		o.Mix, o.FaultMix = p.mix, nil
		pin("mix", p.mix)
	}
	if p.crashes != 0 && !fifo {
		o.CrashProbability = p.crashes
		pin("crashes", strconv.FormatFloat(p.crashes, 'g', -1, 64))
	}
	if p.replicas != 0 {
		o.Replicas = p.replicas
		pin("replicas", strconv.Itoa(p.replicas))
	}
	if p.history != 0 {
		o.History = p.history
		pin("history", strconv.FormatInt(p.history, 10))
	}
	if p.watchList != 0 {
		o.WatchList = int(p.watchList)
		pin("watchlist", p.watchList.String())
	}
	if p.interleave != 0 {
		o.Interleave = int(p.interleave)
		pin("interleave", p.interleave.String())
	}
	if p.mutations != 0 {
		o.MutationDetector = int(p.mutations)
		pin("mutations", p.mutations.String())
	}
	return line.String()
}

// String returns "on", "off", or "" for what is left to the seed.
func (s Setting) String() string {
	switch {
	case s > 0:
		return "on"
	case s < 0:
		return "off"
	}
	return ""
}

// Set reads what String returns. It makes a Setting a flag.
func (s *Setting) Set(text string) error {
	switch text {
	case "on", "true":
		*s = On
	case "off", "false":
		*s = Off
	case "":
		*s = 0
	default:
		return fmt.Errorf("it must be on or off")
	}
	return nil
}
