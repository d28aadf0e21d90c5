package world

import (
	"slices"

	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/world/wellbehaved"
)

// probe is what a run does to controllers once they have been watched. The constants are in the order in which it is done.
type probe int

const (
	probeDoubts probe = iota
	probeRestarts
	probeDoubles
	probeUsers
	probeLists
	probeReads
	probeRetries // with what is deleted then
	probeRevivals
	probeEffects
	probeReplacements
	probeOldLists
	probeLeases
	probeHits
	probesEnd
)

// judgedBy returns the properties for which there is a probe. Some ask for it in the course of a run, or do not.
func (b *wellBehaved) judgedBy(p probe) []string {
	switch p {
	case probeDoubts:
		return []string{wellbehaved.NameOverlooked}
	case probeRestarts:
		return []string{wellbehaved.NameRestart, wellbehaved.NameFinal}
	case probeDoubles:
		if len(b.unwanted) > 0 {
			return []string{wellbehaved.NameStale}
		}
	case probeUsers:
		return b.waiting
	case probeLists:
		return []string{wellbehaved.NameHasty}
	case probeReads:
		return []string{wellbehaved.NameAbsence, wellbehaved.NameFinal}
	case probeRetries:
		return []string{wellbehaved.NameBackoff, wellbehaved.NameAbandoned, wellbehaved.NameDeletion, wellbehaved.NameAnnotation, wellbehaved.NameOrphan}
	case probeRevivals:
		return []string{wellbehaved.NameRevival}
	case probeEffects:
		return []string{wellbehaved.NameEffect}
	case probeReplacements:
		return []string{wellbehaved.NameReplacement}
	case probeOldLists:
		return []string{wellbehaved.NameStaleDelete}
	case probeLeases:
		return []string{wellbehaved.NameDeposed}
	case probeHits:
		if len(b.hits) > 0 {
			return []string{wellbehaved.NameBlind}
		}
	}
	return nil
}

// awaiting returns the properties for which there is one of the probes from the first one on, and before the end.
func (b *wellBehaved) awaiting(first, end probe) (all []string) {
	for p := first; p < end; p++ {
		all = append(all, b.judgedBy(p)...)
	}
	return all
}

// conclude has the ready-made properties judge for which there is no probe from this one on: what controllers make of it is not their affair.
func (b *wellBehaved) conclude(from probe) {
	but := b.awaiting(from, probesEnd)
	b.w.monitor.Conclude(func(of *property.Property) bool {
		return slices.Contains(wellbehaved.Names, of.Name) && !slices.Contains(but, of.Name)
	})
}
