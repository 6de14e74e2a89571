package past

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/entry"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/identity"
	"github.com/companiond/companiond/host/room/reader"
	"github.com/companiond/companiond/host/rooms"
)

// talk is a room whose history is what the test says.
type talk struct {
	rooms.Room
	mu   sync.Mutex
	book history.Book
	seq  uint64
	news chan entry.Entry
}

func (*talk) Name() string { return "main" }

func (r *talk) Book(context.Context) (history.Book, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.book, nil
}

func (*talk) Draft(context.Context, uint64) (history.Draft, error) {
	return history.Draft{Text: "short"}, nil
}

func (r *talk) Past(context.Context, history.Range, bool) (p reader.Past, err error) { return p, nil }

func (r *talk) Follow(ctx context.Context, _ uint64, fn func([]entry.Entry) error) error {
	for {
		select {
		case e := <-r.news:
			if err := fn([]entry.Entry{e}); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// happens has something happen to it, of which whoever follows it hears.
func (r *talk) happens(in history.Input) {
	r.mu.Lock()
	r.seq++
	r.book.Happens(in, r.seq, time.Now())
	r.mu.Unlock()
	r.news <- entry.Entry{Kind: entry.KindHistory}
}

// house has that room.
type house struct{ rooms.Directory }

func (house) Usual() string { return "main" }

// bench is a desk before a room with a proposal that is being drafted.
func bench(stopping context.Context) (*Desk, *talk) {
	r := &talk{news: make(chan entry.Entry, 100)}
	r.happens(history.Input{Kind: history.Propose, Proposal: "p", By: "mika", Ask: &history.Ask{
		Turns: history.Range{From: 1, To: 5}, Length: history.Length{N: 9, Unit: history.Characters}, Compresser: "model",
	}})
	return New(Config{Rooms: house{}, Room: func(context.Context, string) (rooms.Room, error) { return r, nil }, Stopping: stopping, Compressing: decided{r}}), r
}

// decided approves and denies.
type decided struct{ r *talk }

func (decided) Propose(context.Context, compress.Request) (p history.Proposal, err error) {
	return p, nil
}
func (decided) Redraft(context.Context, string, string, string, string) (p history.Proposal, err error) {
	return p, nil
}
func (decided) Revert(context.Context, string, string, string, string) (p history.Proposal, err error) {
	return p, nil
}
func (d decided) Decide(_ context.Context, _, id, by string, ok bool, why string) (history.Proposal, error) {
	d.r.happens(history.Input{Kind: map[bool]history.Kind{true: history.Approve, false: history.Deny}[ok], Proposal: id, By: by, Why: why})
	book, err := d.r.Book(context.Background())
	return *book.Get(id), err
}

// draft is a draft with this verdict.
func draft(v history.Verdict) history.Input {
	return history.Input{Kind: history.Drafted, Proposal: "p", Draft: &history.Draft{Verdict: v}}
}

// TestWait: a call is answered when something came of the drafts, whatever that is, and after its time or when the
// daemon stops with how it stands; meanwhile the client hears of it, where it asked for that.
func TestWait(t *testing.T) {
	tenSeconds := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("Still drafting, for %d s.", (i+1)*10))
		}
		return all
	}
	for name, c := range map[string]struct {
		comes  map[time.Duration]history.Input
		stops  time.Duration
		limit  float64
		took   time.Duration
		status string
		told   []string
	}{
		"offered": {
			comes: map[time.Duration]history.Input{5 * time.Second: draft(history.No), 15 * time.Second: draft(history.Yes)}, limit: 55, took: 15 * time.Second, status: PendingApproval,
			told: []string{"Draft 1 of at most 3: the verifier says NO.", "Still drafting, for 10 s.", "Draft 2 of at most 3: the verifier says YES."},
		},
		"refused": {
			comes: map[time.Duration]history.Input{1 * time.Second: draft(history.No), 2 * time.Second: draft(history.No), 3 * time.Second: draft(history.No)}, limit: 55, took: 3 * time.Second, status: Rejected,
			told: []string{"Draft 1 of at most 3: the verifier says NO.", "Draft 2 of at most 3: the verifier says NO.", "Draft 3 of at most 3: the verifier says NO."},
		},
		"failed": {comes: map[time.Duration]history.Input{time.Second: {Kind: history.Fail, Proposal: "p"}}, limit: 55, took: time.Second, status: Failed},
		"denied": {comes: map[time.Duration]history.Input{time.Second: {Kind: history.Deny, Proposal: "p"}}, limit: 55, took: time.Second, status: Denied},
		"late":   {limit: 45, took: 45 * time.Second, status: Drafting, told: tenSeconds(4)},
		"usual":  {limit: -1, took: UsualWait * time.Second, status: Drafting, told: tenSeconds(4)},
		"stops":  {limit: 55, stops: 7 * time.Second, took: 7 * time.Second, status: Drafting},
		"none":   {limit: 0, status: Drafting},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stopping, stop := context.WithCancel(t.Context())
				defer stop()
				d, r := bench(stopping)
				for after, in := range c.comes {
					time.AfterFunc(after, func() { r.happens(in) })
				}
				if c.stops > 0 {
					time.AfterFunc(c.stops, stop)
				}
				var told []string
				in := SummaryIn{Proposal: "p", Timeout: &c.limit}
				if c.limit < 0 {
					in.Timeout = nil
				}
				began := time.Now()
				out, err := d.Summarize(t.Context(), Caller{Tell: func(s string) { told = append(told, s) }}, in)
				if err != nil || out.(Standing).Status != c.status || time.Since(began) != c.took {
					t.Errorf("%+v, %v after %v", out, err, time.Since(began))
				}
				if len(told) > 0 && told[0] == "Turns 1-5 are being drafted." {
					told = told[1:]
				} else if c.limit != 0 {
					t.Errorf("it begins with %q", told)
				}
				if !slices.Equal(told, c.told) {
					t.Errorf("%q", told)
				}
			})
		})
	}
}

// TestWaitForAVerdict: a call with a draft waits for what a verifier says of it, and is told how it stands where that takes longer. The
// same draft sent once more is no further one, neither while it is verified nor when it was refused.
func TestWaitForAVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		verdict history.Verdict
		after   time.Duration
		took    time.Duration
		status  string
		next    string
		told    []string
	}{
		"YES":  {history.Yes, 15 * time.Second, 15 * time.Second, PendingApproval, "A person has to approve it", []string{"Still verifying, for 10 s.", "Draft 1 of at most 3: the verifier says YES."}},
		"NO":   {history.No, 5 * time.Second, 5 * time.Second, Rejected, "Mend the summary", []string{"Draft 1 of at most 3: the verifier says NO."}},
		"late": {history.Yes, time.Hour, UsualWait * time.Second, Drafting, "It is still being verified: call create_verified_summary with proposal = p to wait on.", []string{"Still verifying, for 10 s.", "Still verifying, for 20 s.", "Still verifying, for 30 s.", "Still verifying, for 40 s."}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, r := bench(t.Context())
				r.happens(history.Input{Kind: history.Fail, Proposal: "p"})
				r.book = history.Book{}
				r.happens(history.Input{Kind: history.Propose, Proposal: "p", By: guest, Draft: &history.Draft{Text: "short"}, Ask: &history.Ask{
					Turns: history.Range{From: 1, To: 5}, Length: history.Length{N: 9, Unit: history.Characters},
				}})
				timer := time.AfterFunc(c.after, func() { r.happens(draft(c.verdict)) })
				defer timer.Stop()
				var told []string
				short := "short"
				caller := Caller{Caller: identity.Caller{Guest: true}, Tell: func(s string) { told = append(told, s) }}
				began := time.Now()
				out, err := d.Summarize(t.Context(), caller, SummaryIn{Proposal: "p", Summary: &short})
				if err != nil || time.Since(began) != c.took {
					t.Fatalf("%v after %v", err, time.Since(began))
				}
				if s := out.(Standing); s.Status != c.status || !strings.HasPrefix(s.Next, c.next) {
					t.Errorf("%+v", s)
				}
				if !slices.Equal(told, append([]string{"The draft is being verified."}, c.told...)) {
					t.Errorf("%q", told)
				}
				if c.status == Drafting {
					return
				}
				if again, err := d.Summarize(t.Context(), caller, SummaryIn{Proposal: "p", Summary: &short}); err != nil || again.(Standing).Status != c.status || again.(Standing).Drafts != 1 {
					t.Errorf("once more: %+v, %v", again, err)
				}
			})
		})
	}
}

// TestWaitersAreBounded, and whoever leaves is not waited for.
func TestWaitersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := bench(t.Context())
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan error, 4)
		for range 4 {
			go func() {
				_, err := d.Summarize(ctx, Caller{}, SummaryIn{Proposal: "p"})
				ended <- err
			}()
		}
		synctest.Wait()
		if _, err := d.Summarize(ctx, Caller{}, SummaryIn{Proposal: "p"}); abi.CodeOf(err) != abi.CodeExhausted {
			t.Errorf("a fifth waits: %v", err)
		}
		leave()
		for range 4 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		if d.waits.Waiting() != 0 {
			t.Errorf("%d still wait", d.waits.Waiting())
		}
	})
}

// TestAPersonWhoDoesNotAnswer has decided nothing, neither after the time there is nor when the daemon stops; the
// client hears that the person is asked.
func TestAPersonWhoDoesNotAnswer(t *testing.T) {
	for name, stops := range map[string]time.Duration{"in time": 0, "before the daemon stops": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stopping, stop := context.WithCancel(t.Context())
				defer stop()
				d, r := bench(stopping)
				r.happens(draft(history.Yes))
				took := patience
				if stops > 0 {
					time.AfterFunc(stops, stop)
					took = stops
				}
				told := 0
				c := Caller{
					Caller: identity.Caller{Name: "taro", Kind: abi.KindHuman},
					Tell:   func(string) { told++ },
					Ask: func(ctx context.Context, _ Question) (Answer, error) {
						<-ctx.Done()
						return Answer{}, ctx.Err()
					},
				}
				began := time.Now()
				out, err := d.Replace(t.Context(), c, DecideIn{})
				if err != nil || out.(Standing).Status != PendingApproval || time.Since(began) != took || told < int(took/pulse) {
					t.Errorf("%+v, %v after %v, told %d times", out, err, time.Since(began), told)
				}
				c.Ask = nil
				if out, err = d.Replace(t.Context(), c, DecideIn{}); err != nil || out.(Standing).Status != Approved {
					t.Errorf("%+v, %v", out, err)
				}
			})
		})
	}
}
