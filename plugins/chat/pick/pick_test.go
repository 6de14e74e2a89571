package pick_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/chat/line"
	"github.com/companiond/companiond/plugins/chat/pick"
)

var start = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

var rule = pick.Rule{Every: 8 * time.Second, Stale: time.Minute, Waiting: 5}

func said(id, viewer, text string) line.Line {
	return line.Line{Platform: "twitch", Place: "vtuber", ID: id, Viewer: viewer, Name: viewer, Text: text}
}

func given(id, viewer string) line.Line {
	l := said(id, viewer, "")
	l.Gift = &line.Gift{Kind: "bits", Amount: 100}
	return l
}

// taken takes n lines, as soon as each may be, and gives their ids.
func taken(p *pick.Pool, from time.Time, n int) (ids []string) {
	for now := from; len(ids) < n; {
		wait, ok := p.Wait(now)
		if !ok {
			break
		}
		now = now.Add(wait)
		if l, ok := p.Next(now); ok {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

func TestOrder(t *testing.T) {
	p := pick.New(rule)
	for i, l := range []line.Line{said("1", "ann", "hi"), said("2", "bob", "how are you?"), said("3", "cho", "hello"), given("4", "dan"), given("5", "ann"), said("6", "eri", "元気？")} {
		if fate := p.Add(l, at(float64(i)/10)); fate != pick.Waits {
			t.Errorf("%s: %s", l.ID, fate)
		}
	}
	// Ann gave something and was picked for it: her hello comes after that of Cho, who wrote later anyway.
	if got := fmt.Sprint(taken(p, at(1), 9)); got != "[4 5 6 2 3 1]" {
		t.Errorf("taken: %s", got)
	}
}

func TestThoseWhoWereNotPickedComeFirst(t *testing.T) {
	p := pick.New(rule)
	p.Add(said("1", "ann", "hi"), at(0))
	p.Next(at(0))
	p.Add(said("2", "bob", "hi"), at(1))
	p.Add(said("3", "ann", "hi again"), at(2)) // newer, and hers
	if got := fmt.Sprint(taken(p, at(2), 9)); got != "[2 3]" {
		t.Errorf("taken: %s", got)
	}
}

func TestOneATime(t *testing.T) {
	p := pick.New(rule)
	if _, ok := p.Wait(at(0)); ok {
		t.Error("nothing waits, and there is a wait for it")
	}
	p.Add(said("1", "ann", "a"), at(0))
	p.Add(said("2", "bob", "b"), at(0))
	if l, ok := p.Next(at(0)); !ok || l.ID != "2" {
		t.Errorf("at once: %v %v", l, ok)
	}
	if l, ok := p.Next(at(7.9)); ok {
		t.Errorf("too soon: %v", l)
	}
	if d, ok := p.Wait(at(5)); d != 3*time.Second || !ok {
		t.Errorf("wait %v %v", d, ok)
	}
	if _, ok := p.Next(at(8)); !ok {
		t.Error("not in time")
	}
}

func TestStale(t *testing.T) {
	p := pick.New(rule)
	p.Add(given("1", "ann"), at(0))
	p.Add(said("2", "bob", "old?"), at(0))
	if l, _ := p.Next(at(60)); l.ID != "1" {
		t.Errorf("the gift is not there but %q", l.ID)
	}
	if l, ok := p.Next(at(68)); ok {
		t.Errorf("an old one: %q", l.ID)
	}
}

func TestTooManyWait(t *testing.T) {
	p := pick.New(rule)
	for i := range 3 {
		p.Add(said(fmt.Sprint("q", i), fmt.Sprint("v", i), "why?"), at(0))
	}
	for i := range 4 {
		p.Add(said(fmt.Sprint("c", i), fmt.Sprint("w", i), "yes"), at(1))
	}
	for i := range 20 {
		if fate := p.Add(given(fmt.Sprint("g", i), "rich"), at(1)); fate != pick.Waits {
			t.Errorf("gift %d: %s", i, fate)
		}
	}
	if s := p.Size(); s.Comments != 5 || s.Gifts != 20 {
		t.Errorf("size %+v", s)
	}
	p = pick.New(rule)
	for i := range 5 {
		p.Add(said(fmt.Sprint("q", i), fmt.Sprint("v", i), "why?"), at(0))
	}
	if fate := p.Add(said("c", "w", "yes"), at(0)); fate != pick.Full {
		t.Errorf("behind questions alone: %s", fate)
	}
	if fate := p.Add(said("q", "w", "yes?"), at(0)); fate != pick.Waits {
		t.Errorf("a newer question: %s", fate)
	}
	if got := fmt.Sprint(taken(p, at(0), 9)); got != "[q q4 q3 q2 q1]" {
		t.Errorf("taken: %s", got)
	}
}

func TestOneViewerFillsNothing(t *testing.T) {
	p := pick.New(rule)
	p.Add(said("b", "bob", "hi"), at(0))
	for i := range 50 {
		p.Add(said(fmt.Sprint("a", i), "ann", "look at me?"), at(0))
	}
	if s := p.Size(); s.Comments != 1+pick.MaxEach {
		t.Errorf("size %+v", s)
	}
	p.Add(said("x", "ann", "no question"), at(0))
	if got := fmt.Sprint(taken(p, at(0), 9)); got != "[a49 a48 a47 b]" {
		t.Errorf("taken: %s", got)
	}
}

func TestKnownPastSilent(t *testing.T) {
	p := pick.New(rule)
	past := said("1", "ann", "before")
	past.Past = true
	for i, c := range []struct {
		l    line.Line
		want pick.Fate
	}{
		{past, pick.Past}, {said("1", "ann", "before"), pick.Known}, {said("2", "ann", ""), pick.Silent},
		{said("3", "ann", "x"), pick.Waits}, {said("3", "ann", "x"), pick.Known}, {said("", "ann", "x"), pick.Waits}, {said("", "ann", "x"), pick.Waits},
	} {
		if got := p.Add(c.l, at(0)); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
	for i := range 2 * pick.MaxSeen {
		p.Add(said(fmt.Sprint("id", i), fmt.Sprint("viewer", i), "x"), at(0))
	}
	if s := p.Size(); s.Seen > pick.MaxSeen || s.Viewers > pick.MaxViewers || s.Comments > 5 {
		t.Errorf("size %+v", s)
	}
}

func TestSlow(t *testing.T) {
	p := pick.New(pick.Rule{Every: time.Second, Stale: time.Minute, Slow: 10 * time.Second, Waiting: 50})
	for i, c := range []struct {
		seconds float64
		l       line.Line
		want    pick.Fate
	}{
		{0, said("1", "ann", "a"), pick.Waits}, {9, said("2", "ann", "b"), pick.TooSoon}, {9, said("3", "bob", "b"), pick.Waits},
		{9.5, given("4", "ann"), pick.Waits}, {10, said("5", "ann", "c"), pick.Waits}, {19, said("6", "ann", "d"), pick.TooSoon},
	} {
		if got := p.Add(c.l, at(c.seconds)); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
	p.Follow(pick.Rule{Every: time.Second, Stale: time.Minute, Waiting: 50})
	if got := p.Add(said("7", "ann", "e"), at(19)); got != pick.Waits {
		t.Errorf("without it: %s", got)
	}
}

func TestMute(t *testing.T) {
	p := pick.New(rule)
	p.Add(said("1", "Ann", "hi"), at(0))
	p.Add(given("2", "Ann"), at(0))
	p.Add(said("3", "bob", "hi"), at(0))
	if err := p.Mute("@ann", at(60), at(0)); err != nil {
		t.Fatal(err)
	}
	if s := p.Size(); s.Comments != 1 || s.Gifts != 0 {
		t.Errorf("size %+v", s)
	}
	l := said("4", "77", "me again")
	l.Handle = "ANN"
	if got := p.Add(l, at(59)); got != pick.Muted {
		t.Errorf("muted by login: %s", got)
	}
	if got := p.Add(said("5", "ann", "back"), at(60)); got != pick.Waits {
		t.Errorf("afterwards: %s", got)
	}
	_ = p.Mute("ann", time.Time{}, at(60))
	if got := p.Add(said("6", "ann", "x"), at(1e6)); got != pick.Muted {
		t.Errorf("for ever: %s", got)
	}
	p.Unmute("Ann")
	if got := p.Add(said("7", "ann", "x"), at(1e6)); got != pick.Waits {
		t.Errorf("taken back: %s", got)
	}
	if got := p.Add(line.Line{Platform: "x", Name: "", Text: "nobody"}, at(1e6)); got != pick.Waits {
		t.Errorf("nameless: %s", got)
	}
	if err := p.Mute(" @ ", time.Time{}, at(0)); abi.CodeOf(err) != abi.CodeInvalid {
		t.Errorf("nobody: %v", err)
	}
}

func TestMuteIsBounded(t *testing.T) {
	p := pick.New(rule)
	for i := range pick.MaxMuted {
		if err := p.Mute(fmt.Sprint("v", i), at(60), at(0)); err != nil {
			t.Fatal(err)
		}
	}
	err := p.Mute("more", at(60), at(0))
	if abi.CodeOf(err) != abi.CodeExhausted || !strings.Contains(err.Error(), "1000") {
		t.Errorf("one more: %v", err)
	}
	if err := p.Mute("v3", at(90), at(0)); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := p.Mute("more", at(120), at(61)); err != nil {
		t.Errorf("when their time is over: %v", err)
	}
	if s := p.Size(); s.Muted != 2 {
		t.Errorf("size %+v", s)
	}
}

func TestGone(t *testing.T) {
	p := pick.New(rule)
	p.Add(said("1", "ann", "a"), at(0))
	p.Add(said("2", "ann", "b"), at(0))
	p.Add(given("3", "ann"), at(0))
	p.Add(said("4", "bob", "c"), at(0))
	for i, c := range []struct {
		g    line.Gone
		want int
	}{
		{line.Gone{Platform: "twitch", ID: "1"}, 1}, {line.Gone{Platform: "twitch", ID: "1"}, 0}, {line.Gone{Platform: "youtube"}, 0},
		{line.Gone{Platform: "twitch", Viewer: "ann"}, 2}, {line.Gone{Platform: "twitch", Place: "vtuber"}, 1},
	} {
		if got := p.Gone(c.g); got != c.want {
			t.Errorf("%d: %d, want %d", i, got, c.want)
		}
	}
	if got := p.Add(said("1", "ann", "a"), at(0)); got != pick.Known {
		t.Errorf("a line that is gone comes again: %s", got)
	}
}

func TestBack(t *testing.T) {
	p := pick.New(rule)
	p.Add(given("1", "ann"), at(0))
	p.Add(given("2", "bob"), at(0))
	p.Add(said("3", "cho", "hi"), at(0))
	p.Add(said("4", "dan", "hi"), at(0))
	l, _ := p.Next(at(0))
	p.Back(l)
	if got := fmt.Sprint(taken(p, at(0), 3)); got != "[1 2 4]" {
		t.Errorf("taken: %s", got)
	}
	c, ok := p.Next(at(32))
	if !ok || c.ID != "3" {
		t.Fatalf("the comment: %+v", c)
	}
	p.Back(c)
	if _, ok := p.Next(at(39)); ok {
		t.Error("the time until the next does not run")
	}
	if c, ok := p.Next(at(40)); !ok || c.ID != "3" {
		t.Errorf("the comment again: %+v", c)
	}
	p.Back(c)
	if c, ok := p.Next(at(60)); ok {
		t.Errorf("it went back and is no younger: %+v", c)
	}
}

// TestBackIsNoPick holds that a viewer whose line went back counts as not picked.
func TestBackIsNoPick(t *testing.T) {
	p := pick.New(rule)
	p.Add(said("1", "ann", "hi"), at(0))
	l, _ := p.Next(at(0))
	p.Add(said("2", "bob", "hi"), at(1))
	if b, _ := p.Next(at(8)); b.ID != "2" {
		t.Fatalf("%+v", b)
	}
	p.Back(l)
	p.Add(said("3", "bob", "hi again"), at(9))
	if got := fmt.Sprint(taken(p, at(9), 9)); got != "[1 3]" {
		t.Errorf("taken: %s", got)
	}
}
