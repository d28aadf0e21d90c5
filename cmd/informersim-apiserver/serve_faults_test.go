package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// faults are those that GET /faults lists, without their ids: state, what is left, fault.
func (p *serving) faults() (lines []string, ids []int) {
	p.t.Helper()
	var list []struct {
		ID    int
		State string
		Left  int
		Fault json.RawMessage
	}
	if err := json.Unmarshal([]byte(p.want(200, "", "GET", "control:/faults", "")), &list); err != nil {
		p.t.Fatal(err)
	}
	for _, f := range list {
		lines = append(lines, fmt.Sprintf("%s %d %s", f.State, f.Left, f.Fault))
		ids = append(ids, f.ID)
	}
	return lines, ids
}

// Faults that wait are listed as they were ordered, and can be withdrawn one by one.
func TestServeListsAndWithdrawsFaults(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t, "--control", "127.0.0.1:0")
	maps := "/api/v1/namespaces/a/configmaps"
	list := func() int {
		code, _ := p.as("alice", "GET", p.root+maps, "")
		return code
	}
	for _, f := range []string{
		`{"kind":"list-500","target":"alice","count":3}`,
		`{"kind":"list-503","target":"alice","from":"1h","until":"2h"}`,
		`{"kind":"list-504","target":"alice","after":{"event":"commit","count":2}}`,
		`{"kind":"write-500","until":"1ms"}`,
	} {
		p.want(200, "", "POST", "control:/fault", f)
	}
	if code := list(); code != 500 {
		t.Fatalf("list: %d", code)
	}
	time.Sleep(5 * time.Millisecond)
	lines, ids := p.faults()
	want := []string{
		`armed 2 {"kind":"list-500","target":"alice","count":3}`,
		`scheduled 1 {"kind":"list-503","target":"alice","from":"59m59.`, // counted from now
		`triggered 2 {"kind":"list-504","target":"alice","after":{"event":"commit","count":2}}`,
	}
	if len(lines) != len(want) {
		t.Fatalf("listed are %q", lines)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("listed is %s, want %s", lines[i], want[i])
		}
	}
	for i, id := range ids {
		path := fmt.Sprintf("control:/faults/%d", id)
		p.want(200, "", "DELETE", path, "")
		p.want(404, fmt.Sprintf("no fault %d is waiting", id), "DELETE", path, "")
		if lines, _ := p.faults(); len(lines) != len(want)-1-i {
			t.Errorf("left are %q", lines)
		}
	}
	for i := range 3 {
		p.want(201, "", "POST", maps, fmt.Sprintf(`{"metadata":{"name":"m-%d"}}`, i))
	}
	if code := list(); code != 200 {
		t.Errorf("after all were withdrawn: %d", code)
	}
	for path, want := range map[string]string{"/faults/x": `"x" is not the id of a fault`, "/faults/0": "is not the id", "/faults/-1": "is not the id", "/faults?id=1": `there is no parameter "id"`, "/faults/1?x=1": `there is no parameter "x"`} {
		p.want(400, want, "DELETE", "control:"+path, "")
	}
	p.want(400, "takes no body", "DELETE", "control:/faults", `{"id":1}`)
}

// Times count from the request, however long nothing has happened before it.
func TestServeFaultAfterRest(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t, "--control", "127.0.0.1:0", "--controllers=")
	time.Sleep(1500 * time.Millisecond)
	p.want(200, "", "POST", "control:/fault", `{"kind":"list-500","from":"1h"}`)
	if lines, _ := p.faults(); len(lines) != 1 || !strings.HasPrefix(lines[0], `scheduled 1 {"kind":"list-500","from":"59m59.`) {
		t.Errorf("listed are %q", lines)
	}
}

// DELETE /faults withdraws all that wait, and ends what lasts.
func TestServeEndsFaults(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t, "--control", "127.0.0.1:0", "--replicas", "2")
	maps := "/api/v1/namespaces/a/configmaps"
	p.want(201, "", "POST", maps, `{"metadata":{"name":"x"}}`)
	for _, f := range []string{
		`{"kind":"list-500","target":"alice","count":3}`,
		`{"kind":"leader-loss"}`,
		`{"kind":"replica-lag","target":"replica/1"}`,
		`{"kind":"replica-skew","target":"1","duration":"-5m"}`,
	} {
		p.want(200, "", "POST", "control:/fault", f)
	}
	lines, _ := p.faults()
	if got, want := strings.Join(lines, "\n"), `armed 3 {"kind":"list-500","target":"alice","count":3}
active 0 {"kind":"leader-loss"}
active 0 {"kind":"replica-lag","target":"replica/1"}
active 0 {"kind":"replica-skew","target":"replica/1","duration":"-5m0s"}`; got != want {
		t.Errorf("listed are\n%s, want\n%s", got, want)
	}
	p.want(500, "", "POST", maps, `{"metadata":{"name":"y"}}`)
	p.want(200, "", "DELETE", "control:/faults", "")
	if lines, _ := p.faults(); len(lines) > 0 {
		t.Errorf("left are %q", lines)
	}
	p.want(201, "", "POST", maps, `{"metadata":{"name":"y"}}`)
	for range 4 { // of both replicas
		if code, answer := p.as("alice", "GET", p.root+maps, ""); code != 200 || !strings.Contains(answer, `"y"`) {
			t.Errorf("list: %d %s", code, answer)
		}
	}
}

// Clients are listed by name, with what they do.
func TestServeListsClients(t *testing.T) {
	inTemp(t, nil)
	p := serveIn(t, "--control", "127.0.0.1:0")
	if answer := p.want(200, "", "GET", "control:/clients", ""); answer != "[\n]\n" {
		t.Errorf("before any request: %s", answer)
	}
	p.want(200, "", "POST", "control:/fault", `{"kind":"list-500","target":"later"}`) // has sent nothing yet
	for range 3 {
		p.as("bob", "GET", p.root+"/api/v1/configmaps", "")
	}
	p.as("alice", "GET", p.root+"/version", "")
	p.as("no name", "GET", p.root+"/version", "")
	watch, err := p.client().CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	var list []struct {
		Name               string
		Requests, InFlight int
		LastRequest        time.Time
	}
	if err := json.Unmarshal([]byte(p.want(200, "", "GET", "control:/clients", "")), &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list {
		if time.Since(c.LastRequest) > time.Minute {
			t.Errorf("%s was seen at %v", c.Name, c.LastRequest)
		}
		got = append(got, fmt.Sprintf("%s %d %d", c.Name, c.Requests, c.InFlight))
	}
	if got, want := strings.Join(got, ", "), "alice 1 0, bob 3 0, http 1 0, informersim-apiserver.test 1 1"; got != want {
		t.Errorf("listed are %s, want %s", got, want)
	}
	p.want(400, `there is no parameter "x"`, "GET", "control:/clients?x=1", "")
	p.want(405, "", "DELETE", "control:/clients", "")
}

// Where replicas and watches are hit whenever they can be, a server serves all the same.
func TestServeWithFaultsAllTheTime(t *testing.T) {
	inTemp(t, map[string]string{"mix.yaml": "name: all the time\nrates: {replica-skew: 1, replica-restart: 1, compact: 1, watch-delay: 1}\n"})
	p := serveIn(t, "--fault-mix", "mix.yaml")
	maps := "/api/v1/namespaces/a/configmaps"
	for i := range 5 {
		p.as("alice", "POST", p.root+maps, fmt.Sprintf(`{"metadata":{"name":"m-%d"}}`, i)) // a restart may reset the connection
	}
	for {
		code, answer := p.as("bob", "GET", p.root+maps, "")
		if code == 200 {
			if !strings.Contains(answer, `"m-0"`) {
				t.Errorf("listed are %s", answer)
			}
			return
		}
		t.Logf("bob: %d %s", code, answer)
	}
}
