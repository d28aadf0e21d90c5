package fault

import (
	"net/http"

	"github.com/informersim/informersim/sim"
)

// Stage is what a kind of fault can hit, and when.
type Stage uint8

// The stages.
const (
	OnList        Stage = iota // a list before admission
	OnListAnswer               // a list before its answer
	OnOpen                     // the opening of a watch before admission
	OnOpenAnswer               // the opening of a watch before its answer
	OnWrite                    // a write before admission
	OnWriteAnswer              // a write before its answer
	OnStream                   // an open watch
	OnFrame                    // the next frame of an open watch
	OnStore                    // the Store
	OnReplica                  // a replica
	numStages
)

// Tier says which servers and networks show a kind of fault.
type Tier uint8

// The tiers.
const (
	Everyday Tier = iota // any, every day
	Rare                 // any, rarely
	Broken               // only one that has a bug, or whose operator restores a backup
	Others               // any, every day: another client has done it
)

// Spec describes a kind of fault.
type Spec struct {
	Kind   Kind
	Stage  Stage
	Code   int // HTTP status of the answer, if the fault is an answer
	Tier   Tier
	Choice sim.Kind // the choice by which the strategy picks it
	index  int      // in the table
}

// Set returns the set of this kind alone.
func (s *Spec) Set() Set { return 1 << s.index }

// Index is where it is among Specs.
func (s *Spec) Index() int { return s.index }

const numKinds = 62

// The table is sorted by tier, and new kinds go to the end of theirs: what a swarm draws depends on the order.
var table = buildTable([numKinds]Spec{
	{Kind: WatchClose, Stage: OnStream}, {Kind: WatchEOF, Stage: OnStream}, {Kind: WatchReset, Stage: OnStream},
	{Kind: WatchStall, Stage: OnStream}, {Kind: WatchHalfOpen, Stage: OnStream}, {Kind: WatchDelay, Stage: OnStream},
	{Kind: Watch410, Stage: OnStream, Code: http.StatusGone}, {Kind: Watch500, Stage: OnStream, Code: http.StatusInternalServerError},
	{Kind: List410, Stage: OnList, Code: http.StatusGone}, {Kind: List429, Stage: OnList, Code: http.StatusTooManyRequests},
	{Kind: List500, Stage: OnList, Code: http.StatusInternalServerError}, {Kind: List503, Stage: OnList, Code: http.StatusServiceUnavailable},
	{Kind: List504, Stage: OnList, Code: http.StatusGatewayTimeout},
	{Kind: ListLost, Stage: OnListAnswer}, {Kind: ListReset, Stage: OnList}, {Kind: ListStale, Stage: OnList},
	{Kind: WatchOpen429, Stage: OnOpen, Code: http.StatusTooManyRequests}, {Kind: WatchOpen500, Stage: OnOpen, Code: http.StatusInternalServerError},
	{Kind: WatchOpen503, Stage: OnOpen, Code: http.StatusServiceUnavailable}, {Kind: WatchOpen504, Stage: OnOpen, Code: http.StatusGatewayTimeout},
	{Kind: WatchOpenRefused, Stage: OnOpen},
	{Kind: Write429, Stage: OnWrite, Code: http.StatusTooManyRequests}, {Kind: Write500, Stage: OnWrite, Code: http.StatusInternalServerError},
	{Kind: Write503, Stage: OnWrite, Code: http.StatusServiceUnavailable}, {Kind: Write504, Stage: OnWrite, Code: http.StatusGatewayTimeout},
	{Kind: WriteLost, Stage: OnWriteAnswer}, {Kind: WriteReset, Stage: OnWrite},
	{Kind: Compact, Stage: OnStore}, {Kind: ReplicaRestart, Stage: OnReplica}, {Kind: ReplicaLag, Stage: OnReplica},

	{Kind: WatchSlow, Stage: OnStream, Tier: Rare}, {Kind: WatchEOFInFrame, Stage: OnFrame, Tier: Rare},
	{Kind: WatchCutLength, Stage: OnFrame, Tier: Rare}, {Kind: WatchBookmarkLost, Stage: OnFrame, Tier: Rare},
	{Kind: WatchBookmarkLate, Stage: OnFrame, Tier: Rare},
	{Kind: ListTooLarge, Stage: OnList, Tier: Rare}, {Kind: ListRefused, Stage: OnList, Tier: Rare},
	{Kind: ListResetHeaders, Stage: OnListAnswer, Tier: Rare}, {Kind: ListSlow, Stage: OnListAnswer, Tier: Rare},
	{Kind: WatchOpenTooLarge, Stage: OnOpen, Tier: Rare}, {Kind: WatchOpenStale, Stage: OnOpen, Tier: Rare},
	{Kind: WatchOpenLost, Stage: OnOpenAnswer, Tier: Rare}, {Kind: WatchOpenResetHeader, Stage: OnOpenAnswer, Tier: Rare},
	{Kind: WatchOpenSlow, Stage: OnOpenAnswer, Tier: Rare},
	{Kind: WriteRefused, Stage: OnWrite, Tier: Rare}, {Kind: WriteResetHeaders, Stage: OnWriteAnswer, Tier: Rare},
	{Kind: WriteSlow, Stage: OnWriteAnswer, Tier: Rare},
	{Kind: LeaderLoss, Stage: OnStore, Tier: Rare}, {Kind: ReplicaSkew, Stage: OnReplica, Tier: Rare},
	{Kind: WatchBookmarkEarly, Stage: OnFrame, Tier: Rare}, {Kind: WriteLate, Stage: OnWrite, Tier: Rare},

	{Kind: WatchGarbage, Stage: OnFrame, Tier: Broken}, {Kind: WatchDuplicate, Stage: OnFrame, Tier: Broken},
	{Kind: WatchReorder, Stage: OnFrame, Tier: Broken}, {Kind: WatchDrop, Stage: OnFrame, Tier: Broken},
	{Kind: WatchNoEndBookmark, Stage: OnFrame, Tier: Broken},
	{Kind: Restore, Stage: OnStore, Tier: Broken}, {Kind: RestoreBumped, Stage: OnStore, Tier: Broken},
	{Kind: WatchOldDelete, Stage: OnFrame, Tier: Broken}, {Kind: WatchEndUnmarked, Stage: OnFrame, Tier: Broken},
	{Kind: ListTorn, Stage: OnListAnswer, Tier: Broken},

	{Kind: WriteOvertaken, Stage: OnWrite, Tier: Others},
})

func buildTable(t [numKinds]Spec) [numKinds]Spec {
	for i := range t {
		t[i].Choice, t[i].index = sim.RegisterKind(string(t[i].Kind), sim.ClassFault), i
	}
	return t
}

// Specs describes every kind, in the order of the table. The slice is shared: it must not be changed.
func Specs() []Spec { return table[:] }

// SpecOf returns the description of a kind, nil if there is none of that name.
func SpecOf(k Kind) *Spec {
	for i := range table {
		if table[i].Kind == k {
			return &table[i]
		}
	}
	return nil
}

// SpecOfChoice returns the description of the kind of fault that a choice stands for, nil if it is not a fault.
func SpecOfChoice(k sim.Kind) *Spec {
	for i := range table {
		if table[i].Choice == k {
			return &table[i]
		}
	}
	return nil
}
