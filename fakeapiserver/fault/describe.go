package fault

import (
	"fmt"
	"strings"
)

// descriptions say in a line what each kind does, for help.
var descriptions = map[Kind]string{
	WatchClose: "the server ends a watch cleanly", WatchEOF: "the connection ends during a watch", WatchReset: "the connection of a watch is reset",
	WatchStall: "the server sends nothing more, not even the end at the deadline", WatchHalfOpen: "the connection is dead, and the client finds out late",
	WatchDelay: "nothing arrives for a while", Watch410: "an ERROR event in a watch: Expired", Watch500: "an ERROR event in a watch: InternalError",
	List410: "410 Expired, to a get or list with a revision or a continue token", List429: "429 with Retry-After, to a get or list",
	List500: "500, to a get or list", List503: "503, to a get or list", List504: "504, to a get or list",
	ListLost: "the connection ends before the answer to a get or list", ListReset: "the connection is reset before a get or list is served",
	ListStale:    "a get or list is served by the replica that lags most",
	WatchOpen429: "429, to the request for a watch", WatchOpen500: "500, to the request for a watch", WatchOpen503: "503, to the request for a watch",
	WatchOpen504: "504, to the request for a watch", WatchOpenRefused: "the connection for a watch is refused",
	Write429: "429, and nothing is written", Write500: "500, and nothing is written", Write503: "503, and nothing is written",
	Write504: "504, and nothing is written", WriteLost: "the write is committed, and its answer is lost", WriteReset: "the connection is reset, and nothing is written",
	Compact: "the Store forgets old revisions", ReplicaRestart: "an apiserver restarts: connections are reset, its watch cache starts anew",
	ReplicaLag: "an apiserver sees no new writes for a while",

	WatchSlow: "the server closes a watch whose client does not keep up", WatchEOFInFrame: "the connection ends within an event",
	WatchCutLength: "the connection ends within the length that precedes an event", WatchBookmarkLost: "a bookmark is not sent",
	WatchBookmarkEarly: "a bookmark comes among the initial events of a watch", WatchBookmarkLate: "a bookmark is late", ListTooLarge: "504, as the server does not have the revision yet",
	ListRefused: "the connection for a get or list is refused", ListResetHeaders: "the connection is reset within the headers of an answer",
	ListSlow: "the answer to a get or list is late", WatchOpenTooLarge: "a watch opens, and gets an ERROR event: the server does not have the revision yet",
	WatchOpenStale: "a watch is served by the replica that lags most", WatchOpenLost: "the connection ends before the headers of a watch",
	WatchOpenResetHeader: "the connection is reset within the headers of a watch", WatchOpenSlow: "the headers of a watch are late",
	WriteRefused: "the connection for a write is refused", WriteResetHeaders: "the write is committed, and the connection is reset within the answer's headers",
	WriteSlow: "the write is committed, and its answer is late", LeaderLoss: "the Store has no leader: writes fail, watch caches start anew",
	ReplicaSkew: "the clock of an apiserver is wrong", WriteLate: "the write is committed late, after others that were sent later",

	WatchGarbage: "an event that does not decode", WatchDuplicate: "an event comes twice", WatchReorder: "an event comes after the next one",
	WatchDrop: "an event is dropped", WatchNoEndBookmark: "the initial events of a watch never end",
	Restore: "the Store goes back to an older revision", RestoreBumped: "the same, and revisions go on above all earlier ones",
	WatchOldDelete: "a DELETED event has the resourceVersion from before", WatchEndUnmarked: "the bookmark that ends the initial events lacks its annotation",
	ListTorn: "the second half of a list is newer than its resourceVersion",

	WriteOvertaken: "another client writes the object just before, so that it has a new resourceVersion",

	WebhookTimeout: "a webhook does not answer in time", WebhookRefused: "the connection to a webhook is refused", Webhook500: "a webhook answers 500",
	WebhookGarbage: "a webhook answers something that is no AdmissionReview",
}

// Describe returns a line that says what a kind does, "" for one that there is not.
func Describe(k Kind) string { return descriptions[k] }

// Help lists the kinds of a tier with what they do, a line each.
func Help(t Tier) string {
	var b strings.Builder
	for _, s := range Specs() {
		if s.Tier == t {
			fmt.Fprintf(&b, "  %-24s%s\n", s.Kind, Describe(s.Kind))
		}
	}
	return b.String()
}
