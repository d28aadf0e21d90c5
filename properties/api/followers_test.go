package api

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
)

// A reflector may take a list that it has asked for, or not, and ask for another one, which a replica that lags answers. A watch from where the first was
// goes on from the end of the watch that followed the second: what comes when it is refused is no needless list. (rapid found it.)
func TestOnlyTheLastListBeginsAWatch(t *testing.T) {
	p := &followers{options: Options{OneReflector: true}}
	p.forget()
	request := func(n int64, watch bool, o metav1.ListOptions) *sim.Record {
		return &sim.Record{Kind: fakeapiserver.KindRequest, Actor: 1, Key: "pods", N: n, Obj: &fakeapiserver.Asked{Watch: watch, Options: &o}}
	}
	page := func(detail, rv string) *sim.Record {
		return &sim.Record{Kind: fakeapiserver.KindPage, Actor: 1, Detail: detail, Obj: &fakeapiserver.Page{ResourceVersion: rv}}
	}
	for _, r := range []*sim.Record{
		request(1, false, metav1.ListOptions{}), page("request=1", "47"),
		request(2, false, metav1.ListOptions{ResourceVersion: "0"}), page("request=2", "14"),
		request(3, true, metav1.ListOptions{ResourceVersion: "14"}),
		{Kind: fakeapiserver.KindResponse, Actor: 1, N: 3, Detail: "ok"},
		{Kind: fakeapiserver.KindFrame, Actor: 1, N: 3, RV: 47, Detail: "ADDED"},
		{Kind: fakeapiserver.KindWatchClosed, Actor: 1, N: 3, Detail: "fault watch-eof"},
		request(4, true, metav1.ListOptions{ResourceVersion: "47"}),
		{Kind: fakeapiserver.KindResponse, Actor: 1, N: 4, Detail: "503 ServiceUnavailable"},
		request(5, false, metav1.ListOptions{ResourceVersion: "47"}),
	} {
		if wrong := p.record(nil, r); wrong != nil {
			t.Errorf("request %d: %s", r.N, wrong.message)
		}
	}
}
