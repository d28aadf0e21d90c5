package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// faultJSON is the form of a Fault in JSON and YAML.
type faultJSON struct {
	Kind        Kind     `json:"kind"`
	Target      string   `json:"target,omitempty"`
	Replica     string   `json:"replica,omitempty"`
	Verb        string   `json:"verb,omitempty"`
	Resource    string   `json:"resource,omitempty"`
	Namespace   string   `json:"namespace,omitempty"`
	Name        string   `json:"name,omitempty"`
	Count       int      `json:"count,omitempty"`
	Probability float64  `json:"probability,omitempty"`
	From        duration `json:"from,omitempty"`
	Until       duration `json:"until,omitempty"`
	After       *Trigger `json:"after,omitempty"`
	RetryAfter  duration `json:"retryAfter,omitempty"`
	Duration    duration `json:"duration,omitempty"`
	Revision    int64    `json:"revision,omitempty"`
}

type duration time.Duration

// MarshalJSON implements json.Marshaler.
func (d duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%s is not a duration: write it like \"1m30s\"", data)
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a duration: write it like \"1m30s\"", text)
	}
	*d = duration(v)
	return nil
}

// MarshalJSON implements json.Marshaler.
func (f Fault) MarshalJSON() ([]byte, error) {
	return json.Marshal(faultJSON{
		Kind: f.Kind, Target: f.Target, Replica: f.Replica, Verb: f.Verb, Resource: f.Resource, Namespace: f.Namespace, Name: f.Name,
		Count: f.Count, Probability: f.Probability, From: duration(f.From), Until: duration(f.Until), After: f.After,
		RetryAfter: duration(f.RetryAfter), Duration: duration(f.Duration), Revision: f.Revision,
	})
}

func (f *Fault) from(j *faultJSON) {
	*f = Fault{
		Kind: j.Kind, Target: j.Target, Replica: j.Replica, Verb: j.Verb, Resource: j.Resource, Namespace: j.Namespace, Name: j.Name,
		Count: j.Count, Probability: j.Probability, From: time.Duration(j.From), Until: time.Duration(j.Until), After: j.After,
		RetryAfter: time.Duration(j.RetryAfter), Duration: time.Duration(j.Duration), Revision: j.Revision,
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var j faultJSON
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields() // a misspelt field would have no effect
	if err := d.Decode(&j); err != nil {
		return err
	}
	f.from(&j)
	return nil
}
