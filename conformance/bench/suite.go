package bench

import (
	"context"
	"fmt"
)

// Sizes of the measurements. The zero value means those of Full.
type Sizes struct {
	// Creates is the number made by one client, then again by several.
	Creates int
	// Objects exist when lists are measured.
	Objects int
	// Updates reach each of the Watchers, with one measurement per number of watchers.
	Updates  int
	Watchers []int
}

// Full sizes give results that can be compared between machines; Short ones take a few seconds.
var (
	Full  = Sizes{Creates: 2000, Objects: 10_000, Updates: 2000, Watchers: []int{1, 100, 1000}}
	Short = Sizes{Creates: 200, Objects: 1000, Updates: 200, Watchers: []int{1, 50}}
)

const (
	manyClients = 8
	listTimes   = 10
	pageLimit   = 500
)

// Suite measures a server without objects. It calls report with each result.
func (s Server) Suite(ctx context.Context, z Sizes, report func(Result)) error {
	made := 0
	measure := func(r Result, err error) error {
		if err != nil {
			return fmt.Errorf("measure %s: %w", r.Name, err)
		}
		report(r)
		return nil
	}
	for _, clients := range []int{1, manyClients} {
		if err := measure(s.Create(ctx, fmt.Sprintf("by-%d", clients), z.Creates, clients)); err != nil {
			return err
		}
		made += z.Creates
	}
	if rest := z.Objects - made; rest > 0 {
		if _, err := s.Create(ctx, "more", rest, manyClients); err != nil {
			return err
		}
		made += rest
	}
	if err := measure(s.List(ctx, "list/consistent", "", listTimes, made)); err != nil {
		return err
	}
	if err := measure(s.List(ctx, "list/rv=0", "resourceVersion=0", listTimes, made)); err != nil {
		return err
	}
	if err := measure(s.Page(ctx, pageLimit, listTimes, made)); err != nil {
		return err
	}
	for _, watchers := range z.Watchers {
		if err := measure(s.FanOut(ctx, watchers, z.Updates)); err != nil {
			return err
		}
	}
	return nil
}
