package museum

// An Exhibit shows a bug: a scenario whose named property breaks where the bug is, and that passes where it is not.
type Exhibit struct {
	// Bug is the first name of the bug in docs/spec/bugs.md.
	Bug string
	// Property is the one that finds it.
	Property string
	// Scenario is the file's name in scenarios/testdata, without its ending.
	Scenario string
	// Mutant puts the bug back. It is one of properties/mutants; "" means that the subject has the bug as it is.
	Mutant string
	// Mend is what mends a subject that has the bug as it is: one of properties/mutants/mends; or Remedy is the scenario in which the
	// world spares it.
	Mend, Remedy string
	// Strict means that the property excepts the bug by name, which is left out here.
	Strict bool
	// Note says what a reader must know besides, "" for nothing.
	Note string
}

// Exhibits returns all of them, in any order.
func Exhibits() []Exhibit {
	return []Exhibit{
		{Bug: "k59848", Property: "LastSyncRVMonotonic", Scenario: "list_not_stale", Mutant: "cg-reflector-relist-any-version",
			Note: "This is the half that is mended: a relist. A client that starts anew still goes back, which no property of one informer can see; `scenarios/testdata/k59848.sim` shows it."},
		{Bug: "k58545", Property: "LastSyncRVMonotonic", Scenario: "watch_eof", Mutant: "server-deletion-with-old-rv"},
		{Bug: "k73845", Property: "WatchUnique", Scenario: "k73845", Mutant: "server-initial-events-repeated"},
		{Bug: "k74022", Property: "PerKeyOrder", Scenario: "k74022", Mutant: "cg-reflector-rv-of-synthetic-adds",
			Note: "The report is of a plain watch without a resourceVersion, which today's informers do not open; a streaming list has the same events."},
		{Bug: "k107457", Property: "IndexerConverges", Scenario: "k107457", Remedy: "restore_bumped",
			Note: "Nothing in client-go or the server is broken here: the restore is. What helps is the procedure that raises the revision."},
		{Bug: "k133810", Property: "IndexerConverges", Scenario: "k133810", Remedy: "k133810_compacted",
			Note: "It is open. A compaction of the store ends it, as each real cluster has every five minutes; until then the informer is stale."},
		{Bug: "k91073", Property: "IndexerConverges", Scenario: "k91073", Mutant: "cg-reflector-too-large-not-seen"},
		{Bug: "k85221", Property: "ValidRequests", Scenario: "k85221", Mutant: "cg-pager-keeps-rv"},
		{Bug: "k86430", Property: "FrugalRequests", Scenario: "k86430", Mutant: "cg-reflector-relist-newest"},
		{Bug: "k94002", Property: "ListIsAtOneRevision", Scenario: "k94002_pages", Mutant: "server-continue-at-current"},

		{Bug: "k27004", Property: "IndexerConverges", Scenario: "k27004", Mutant: "cg-delta-delete-asks-store"},
		{Bug: "k83810", Property: "IndexerConverges", Scenario: "k83810", Mutant: "cg-delta-dedup-any-deletion"},
		{Bug: "k115658", Property: "ReplaceDeletesMissing", Scenario: "k115658", Mutant: "cg-delta-replace-forgets-queued"},
		{Bug: "k86015", Property: "IndexerConverges", Scenario: "k86015", Mutant: "cg-delta-relist-as-sync"},
		{Bug: "k49956", Property: "IndexerConverges", Scenario: "k49956", Mutant: "server-empty-cache-off-by-one"},
		{Bug: "k116122", Property: "IndexerConverges", Scenario: "k116122", Mutant: "server-reinitialised-cache-keeps-watch"},
		{Bug: "k123072", Property: "WatchReliable", Scenario: "slow_watcher", Mutant: "server-slow-watch-loses-events",
			Note: "The report is of the apiserver's own watch of etcd; here it is a client's watch of the apiserver that starves, and loses events in the same way."},
		{Bug: "e18089", Property: "IndexerConverges", Scenario: "e18089", Mutant: "server-compaction-drops-tombstone",
			Note: "The report is of etcd. The fake server's store stands for it, and the watch cache that follows the store for its client."},
		{Bug: "e20221", Property: "WatchOrdered", Scenario: "e20221", Mutant: "server-future-watch-lowered",
			Note: "The report is of etcd; here it is a client's watch of an apiserver that is behind."},
		{Bug: "e8411", Property: "IndexerConverges", Scenario: "e8411", Mutant: "server-snapshot-skips-watches",
			Note: "The report is of a member of etcd; here it is an apiserver that follows the store."},
		{Bug: "k141528", Property: "IndexerConverges", Scenario: "k141528", Mutant: "server-watch-from-now",
			Note: "The report is of client-go's fake clientset. The mutant makes the fake server as forgetful."},
		{Bug: "k106102", Property: "WorkDrains", Scenario: "k106102_worker", Mutant: "handler-ignores-stale-tombstones",
			Note: "The report is of the scheduler; here it is the handler that fills a work queue. client-go is as it is."},

		{Bug: "k140890", Property: "BackoffHonoured", Scenario: "k140890", Mend: "cg-streaming-list-waits", Strict: true,
			Note: "It is open. The property excepts it by name, and is asked here without the exception."},
		{Bug: "k135895", Property: "IndexerConverges", Scenario: "streaming_list", Mutant: "server-initial-bookmark-never"},
		{Bug: "k117137", Property: "IndexerConverges", Scenario: "k117137", Mutant: "server-waits-under-lock",
			Note: "The fake server has no lock. The mutant stops its watch cache for good, as the deadlock did."},
		{Bug: "k138167", Property: "IndexerConverges", Scenario: "streaming_list", Mutant: "server-initial-bookmark-without-annotation"},
		{Bug: "k104171", Property: "NoLivelock", Scenario: "k104171", Mutant: "server-too-old-watch-closes",
			Note: "It takes both sides: a server that does not say why it closes, and a client that does not wonder."},
		{Bug: "k136509", Property: "NoDeadlock", Scenario: "k136509", Mutant: "cg-processor-starts-late",
			Note: "The race is decided by the mutant: the goroutine that lost it on busy machines sleeps for a second of virtual time."},
		{Bug: "k113763", Property: "SyncedAfterInitialList", Scenario: "k113763_slow_handler", Mutant: "listener-synced-at-begin"},

		{Bug: "k109115", Property: "IndexMatchesItems", Scenario: "k109115", Mutant: "cg-store-index-one-value"},
		{Bug: "k84959", Property: "IndexMatchesItems", Scenario: "k84959", Mutant: "cg-store-empty-index-sets"},
	}
}

// A Gap is a bug that is no exhibit.
type Gap struct {
	Bug string
	Why string
	// See is what shows something of it all the same: a scenario, which is played, or a test; "" for nothing.
	See string
}

// Gaps returns the bugs that are no exhibits.
func Gaps() []Gap {
	const (
		called  = "no scenario makes the call in which `LibraryAgrees` sees it; mutants put it back, and `informersim fuzz` finds them"
		refuses = "what it costs is load on the server: a list in place of a watch; mutants put it back, and `informersim fuzz` finds them"
		made    = "subjects/clientgo/gates/library/library_test.go"
	)
	return []Gap{
		{"k107133", "the code of client-go that it is about is that of k91073, whose exhibit shows it; what differs is why the server is behind", ""},
		{"k127964", "open; what is known of it is I76. ResyncTellsAll holds of client-go in every exploration, so the order of events that the report met is not known", "informer/processor_test.go"},
		{"k133565", "documented behaviour: an object that is deleted and created again during a gap is told as an update", "scenarios/testdata/k133565.sim"},
		{"k132926", "no client in a scenario asks for Tables; a test hands some to the Reflector", "informer/reflector_test.go"},
		{"k126958", "a bookmark that comes a second late breaks nothing but a caller's timeout of one second", "fakeapiserver/rare_faults_test.go"},
		{"k111116", "what it costs is load on the server: clients come back to where they were, and no property bounds how many do at once", "scenarios/testdata/leader_loss.sim"},
		{"cr3424", "controller-runtime is no subject of scenarios", ""},
		{"cr3496", "controller-runtime is no subject of scenarios", ""},
		{"cr3538", "controller-runtime is no subject of scenarios", ""},
		{"k119554", "no scenario drains a work queue and shuts it down at once; a mutant puts it back, and `informersim fuzz` finds it where goroutines are interleaved", "subjects/clientgo/gates/library/library_test.go"},
		{"k141079", "open; no scenario has two wait for a work queue to drain. `LibraryAgrees` makes the call, and excepts by name what comes of it", "properties/library_agrees_test.go"},
		{"k43605", "today an index function that fails ends the program, which is a finding of its own; mutants put the bug back, and `informersim fuzz` finds them", "scenarios/testdata/index_fails.sim"},
		{"k113305", called, made},
		{"k45454", called, made},
		{"k55242", called, made},
		{"k58394", called, made},
		{"k59822", called, made},
		{"k73137", called, made},
		{"k77434", called, made},
		{"k82446", called, made},
		{"k90581", called, made},
		{"k93646", called, made},
		{"k93709", called, made},
		{"k116435", called, made},
		{"k117534", called, made},
		{"k131266", called, made},
		{"k126125", called, made},
		{"k126038", called, made},
		{"k135072", called, made},
		{"k53830", called, made},
		{"k77170", called, made},
		{"k83895", called, made},
		{"k97255", called, made},
		{"k104991", called, made},
		{"k104853", called, made},
		{"k117870", called, made},
		{"k135580", called, made},
		{"k139143", called, made},
		{"k140063", called, made},
		{"k51381", called, made},
		{"k73937", called, made},
		{"k75167", called, made},
		{"k79375", called, made},
		{"k81634", refuses, "scenarios/testdata/watch_open_errors.sim"},
		{"k88267", called, made},
		{"k89652", called, made},
		{"k100878", refuses, "scenarios/testdata/watch_open_errors.sim"},
		{"k102107", called, made},
		{"k109050", called, made},
		{"k110100", called, made},
		{"k112476", called, made},
		{"k113933", called, made},
		{"k126265", called, made},
		{"k126954", called, made},
		{"k131165", called, made},
		{"k137694", called, made},
		{"k140406", called, made},
		{"k115096", "no scenario asks for what shows it; a mutant puts it back, and `informersim fuzz` finds it", "properties/fakeserver/fakeserver_test.go"},
		{"k116436", "no scenario asks for what shows it; a mutant puts it back, and `informersim fuzz` finds it", "properties/fakeserver/fakeserver_test.go"},
		{"k91417", "no scenario asks for what shows it; a mutant puts it back, and `informersim fuzz` finds it", "properties/fakeserver/fakeserver_test.go"},
		{"k110652", "no scenario asks for what shows it; a mutant puts it back, and `informersim fuzz` finds it", "properties/fakeserver/fakeserver_test.go"},
		{"k68065", "no scenario asks for what shows it; a mutant puts it back, and `informersim fuzz` finds it", "properties/fakeserver/fakeserver_test.go"},
		{"k123676", "no scenario asks for what shows it; a mutant puts it back, and `informersim fuzz` finds it", "properties/fakeserver/fakeserver_test.go"},
		{"k77988", "open; the fake server carries out a delete in one step, so nothing comes between its look and the deletion", ""},
		{"cg1326", "client-go has no bound for what waits for a slow handler, so no property can hold it to one", "informer/processor_test.go"},
	}
}
