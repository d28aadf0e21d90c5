package fault

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// Faults are read from JSON and YAML, and errors say what is wrong.
func TestParse(t *testing.T) {
	f, err := Parse([]byte(`{"kind":"watch-delay","target":"i1","duration":"1m30s","after":{"event":"frame","key":"a/b","count":3}}`))
	if err != nil || f.Kind != WatchDelay || f.Duration != 90*time.Second || f.After.Count != 3 {
		t.Fatalf("%+v, %v", f, err)
	}
	data, err := f.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(data)
	if err != nil || !reflect.DeepEqual(again, f) {
		t.Errorf("Parse(%s) = %+v, %v, want the fault that was marshalled", data, again, err)
	}
	for text, want := range map[string]string{
		`{"kind":"watch-eov"}`:            `did you mean "watch-eof"`,
		`{}`:                              "there is no fault",
		`{"kind":"watch-eof","colour":1}`: "colour",
		`{"kind":"watch-delay","duration":"long"}`:      "1m30s",
		`{"kind":"watch-delay","duration":30}`:          "1m30s",
		`{"kind":"watch-delay","duration":"-1s"}`:       "negative",
		`{"kind":"watch-eof","probability":2}`:          "between 0 and 1",
		`{"kind":"watch-eof","from":"2s","until":"1s"}`: "not after",
		`{"kind":"write-500","verb":"paint"}`:           "paint",
		`{"kind":"write-500","after":{"event":"dawn"}}`: "dawn",
		`{"kind":"write-500","after":{"count":-1}}`:     "negative",
		`{"kind":"compact","revision":-1}`:              "negative",
		`{"kind":"list-429","retryAfter":"100000h"}`:    "year",
		`[`: "fault",
	} {
		if f, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s) = %+v, %v; want an error with %q", text, f, err, want)
		}
	}
}
