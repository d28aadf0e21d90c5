package reports

// Unjudged is a property that a run was not held to, or a part of one, since the stack under test does not say what it has to know.
type Unjudged struct {
	Property string `json:"property"`
	Part     string `json:"part,omitempty"` // "" for all of it
	Why      string `json:"why"`
}

func (u Unjudged) String() string {
	text := u.Property
	if u.Part != "" {
		text += ", " + u.Part
	}
	return PlainLine("not judged: " + text + ": " + u.Why)
}
