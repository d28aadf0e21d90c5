package fault

// Trigger is something that a fault waits for.
type Trigger struct {
	// Event is what: "frame" (a watch event reaches a client), "request" (a client asks for something) or "commit". The default
	// is "frame".
	Event string `json:"event,omitempty"`
	// Count is how often it must happen, 1 if 0.
	Count int `json:"count,omitempty"`
	// Client counts only what happens to that client, Resource (a plural), Key ("namespace/name") and Type (ADDED, MODIFIED,
	// DELETED, BOOKMARK; of a request its verb) only what is about them; "" for any.
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
