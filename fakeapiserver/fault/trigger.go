package fault

// Trigger is an event that a fault waits for.
type Trigger struct {
	// Event is "frame" (a watch event reaches a client), "request" (a client sends a request) or "commit". The default is
	// "frame". A commit is one that a client's request makes; with no Client, also the fake controllers'.
	Event string `json:"event,omitempty"`
	// Count is how often it must happen, 1 if 0.
	Count int `json:"count,omitempty"`
	// Client, Resource (a plural), Key ("namespace/name") and Type (ADDED, MODIFIED, DELETED, BOOKMARK; the verb of a request)
	// restrict which events count; "" for any.
	Client   string `json:"client,omitempty"`
	Resource string `json:"resource,omitempty"`
	Key      string `json:"key,omitempty"`
	Type     string `json:"type,omitempty"`
}

// The events of triggers.
const (
	TriggerFrame   = "frame"
	TriggerRequest = "request"
	TriggerCommit  = "commit"
)
