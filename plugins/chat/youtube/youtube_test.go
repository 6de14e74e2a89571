package youtube_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/plugins/chat/line"
	"github.com/companiond/companiond/plugins/chat/youtube"
)

const key = "AIzaSECRETsecret"

// answer is one that the server gives.
type answer struct {
	status int
	body   string
}

// api answers for YouTube, in the order of what is given, and keeps what it was asked and when.
type api struct {
	mu      sync.Mutex
	answers []answer
	asked   []string
	at      []time.Duration
	start   time.Time
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := r.URL.Query()
	if q.Get("key") != key {
		http.Error(w, "no key", http.StatusForbidden)
		return
	}
	what := r.URL.Path
	for _, name := range []string{"id", "liveChatId", "part", "pageToken"} {
		if v := q.Get(name); v != "" {
			what += " " + name + "=" + v
		}
	}
	a.asked, a.at = append(a.asked, what), append(a.at, time.Since(a.start))
	next := answer{http.StatusInternalServerError, "no more answers"}
	if len(a.answers) > 0 {
		next, a.answers = a.answers[0], a.answers[1:]
	}
	w.WriteHeader(next.status)
	_, _ = w.Write([]byte(next.body))
}

// RoundTrip makes it a transport, for tests in fake time.
func (a *api) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w.Result(), nil
}

func ok(body string) answer { return answer{http.StatusOK, body} }

func refused(status int, reason string) answer {
	return answer{status, fmt.Sprintf(`{"error":{"code":%d,"message":"It is <a href=\"/x\">%s</a>, %s.","errors":[{"message":"m","domain":"youtube.liveChat","reason":%q}]}}`, status, reason, key, reason)}
}

const live = `{"kind":"youtube#videoListResponse","items":[{"kind":"youtube#video","id":"vid","liveStreamingDetails":{"actualStartTime":"2026-11-27T10:00:00Z","activeLiveChatId":"chat1"}}]}`

func pageOf(next string, millis int, items ...string) answer {
	return ok(fmt.Sprintf(`{"kind":"youtube#liveChatMessageListResponse","nextPageToken":%q,"pollingIntervalMillis":%d,"pageInfo":{"totalResults":1},"items":[%s]}`, next, millis, strings.Join(items, ",")))
}

func item(id, kind, details string) string {
	return fmt.Sprintf(`{"kind":"youtube#liveChatMessage","id":%q,"snippet":{"type":%q,"liveChatId":"chat1","authorChannelId":"UC1","publishedAt":"2026-11-27T10:00:01.5Z","hasDisplayContent":true%s},`+
		`"authorDetails":{"channelId":"UC1","displayName":"Ann","profileImageUrl":"https://x/y","isVerified":false,"isChatOwner":false,"isChatSponsor":true,"isChatModerator":false}}`, id, kind, details)
}

func text(id, words string) string {
	b, _ := json.Marshal(words) // a text can always be marshalled
	return item(id, "textMessageEvent", fmt.Sprintf(`,"displayMessage":%s,"textMessageDetails":{"messageText":%s}`, b, b))
}

// read runs a chat until it ends by itself.
func read(ctx context.Context, c *youtube.Chat) (ups int, events []line.Event, err error) {
	err = c.Run(ctx, func() { ups++ }, func(e line.Event) { events = append(events, e) })
	return ups, events, err
}

func TestPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &api{start: time.Now(), answers: []answer{
			ok(live),
			pageOf("p1", 7000, text("m0", "long ago")),
			pageOf("p2", 1500, text("m1", "hello?\u202e")),
			pageOf("p3", 0, text("m2", "x"), `{"id":7}`, `"odd"`),
			pageOf("p4", 100_000_000),
			ok(`{"nextPageToken":"p5","offlineAt":"2026-11-27T12:00:00Z","items":[` + text("m3", "bye") + `]}`),
		}}
		c := &youtube.Chat{Key: key, Video: "vid", AtLeast: 2 * time.Second, Client: &http.Client{Transport: a}}
		ups, events, err := read(t.Context(), c)
		if !errors.Is(err, line.ErrOver) || ups != 1 {
			t.Errorf("ended with %v, up %d times", err, ups)
		}
		var got []string
		for _, e := range events {
			got = append(got, fmt.Sprint(e.Line.ID, " ", e.Line.Text, " ", e.Line.Past))
		}
		if s := strings.Join(got, ", "); s != "m0 long ago true, m1 hello? false, m2 x false, m3 bye false" {
			t.Errorf("told: %s", s)
		}
		const page = "/youtube/v3/liveChat/messages liveChatId=chat1 part=id,snippet,authorDetails"
		if s := strings.Join(a.asked, "\n"); s != "/youtube/v3/videos id=vid part=liveStreamingDetails\n"+page+"\n"+page+" pageToken=p1\n"+page+" pageToken=p2\n"+page+" pageToken=p3\n"+page+" pageToken=p4" {
			t.Errorf("asked:\n%s", s)
		}
		// As YouTube asks, or the settings do, or a second, and never more than five minutes.
		if s := fmt.Sprint(a.at); s != "[0s 0s 7s 9s 11s 5m11s]" {
			t.Errorf("asked at %s", s)
		}
		want := line.Line{Platform: "youtube", Place: "vid", ID: "m1", Viewer: "UC1", Name: "Ann", Text: "hello?", Member: true, At: time.Date(2026, 11, 27, 10, 0, 1, 5e8, time.UTC)}
		if *events[1].Line != want {
			t.Errorf("got %+v, want %+v", *events[1].Line, want)
		}
	})
}

// TestGoesOn holds that a chat that is read again goes on where it was.
func TestGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &api{answers: []answer{ok(live), pageOf("p1", 1000, text("m0", "old")), {http.StatusBadGateway, "<html>"}, pageOf("p2", 1000, text("m1", "new")), refused(400, "pageTokenInvalid"), pageOf("p3", 1000, text("m2", "newer")), refused(403, "liveChatEnded")}}
		c := &youtube.Chat{Key: key, Video: "vid", Client: &http.Client{Transport: a}}
		if _, events, err := read(t.Context(), c); err == nil || !strings.Contains(err.Error(), "502") || len(events) != 1 || errors.As(err, new(*line.Later)) {
			t.Errorf("a gateway fails: %v, %d told", err, len(events))
		}
		if _, events, err := read(t.Context(), c); err == nil || !strings.Contains(err.Error(), "pageTokenInvalid") || len(events) != 1 || events[0].Line.Past {
			t.Errorf("the page is gone: %v, told %+v", err, events)
		}
		if _, events, err := read(t.Context(), c); !errors.Is(err, line.ErrOver) || len(events) != 1 || events[0].Line.Past {
			t.Errorf("the chat has ended: %v, told %+v", err, events)
		}
		if s := strings.Join(a.asked, "\n"); strings.Count(s, "/videos") != 1 || !strings.HasSuffix(a.asked[3], "pageToken=p1") || strings.Contains(a.asked[5], "pageToken") {
			t.Errorf("asked:\n%s", s)
		}
	})
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name  string
		a     answer
		want  string
		waits []time.Duration // of each refusal in a row
	}{
		{"quota", refused(403, "quotaExceeded"), "quota of the day", []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour}},
		{"rate", refused(403, "rateLimitExceeded"), "rateLimitExceeded", []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}},
		{"too many", answer{429, ""}, "429", []time.Duration{5 * time.Second, 10 * time.Second}},
		{"a bad key", refused(400, "keyInvalid"), "keyInvalid", []time.Duration{5 * time.Second, 10 * time.Second}},
		{"no such video", ok(`{"items":[]}`), "no video vid", []time.Duration{time.Minute, time.Minute}},
		{"not yet", ok(`{"items":[{"liveStreamingDetails":{}}]}`), "no live chat yet", []time.Duration{time.Minute, time.Minute}},
	} {
		a := &api{}
		chat := &youtube.Chat{Key: key, Video: "vid", Client: &http.Client{Transport: a}}
		for i, want := range c.waits {
			a.answers = []answer{c.a}
			_, _, err := read(t.Context(), chat)
			var later *line.Later
			if !errors.As(err, &later) || later.After != want || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %d: %v, want to wait %v: %+v", c.name, i, err, want, later)
			}
			if err != nil && strings.Contains(err.Error(), key) {
				t.Errorf("%s: the key is in %q", c.name, err)
			}
		}
		if len(a.asked) != len(c.waits) {
			t.Errorf("%s: asked %d times", c.name, len(a.asked))
		}
	}
	over := &api{answers: []answer{ok(`{"items":[{"liveStreamingDetails":{"actualEndTime":"2026-11-27T11:00:00Z"}}]}`)}}
	if _, _, err := read(t.Context(), &youtube.Chat{Key: key, Video: "vid", Client: &http.Client{Transport: over}}); !errors.Is(err, line.ErrOver) {
		t.Errorf("a stream of yesterday: %v", err)
	}
}

// TestQuotaIsForgotten holds that after a page that was had the next refusal waits as the first.
func TestQuotaIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &api{answers: []answer{refused(403, "quotaExceeded"), refused(403, "quotaExceeded"), ok(live), pageOf("p1", 1000), refused(403, "quotaExceeded")}}
		chat := &youtube.Chat{Key: key, Video: "vid", Client: &http.Client{Transport: a}}
		for i, want := range []time.Duration{time.Minute, 2 * time.Minute, time.Minute} {
			var later *line.Later
			if _, _, err := read(t.Context(), chat); !errors.As(err, &later) || later.After != want {
				t.Errorf("%d: %v %+v", i, err, later)
			}
		}
	})
}

// TestOverHTTP reads from a server, which sends elsewhere whoever it does not like, and is not there in the end.
func TestOverHTTP(t *testing.T) {
	a := &api{answers: []answer{ok(live), pageOf("p1", 0, text("m0", "old"))}}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Errorf("went to %s", r.URL) }))
	defer elsewhere.Close()
	s := httptest.NewServer(a)
	ctx, cancel := context.WithCancel(t.Context())
	chat := &youtube.Chat{Base: s.URL + "/youtube/v3/", Key: key, Video: "vid"}
	err := chat.Run(ctx, func() {}, func(e line.Event) { cancel() })
	if !errors.Is(err, context.Canceled) || len(a.asked) != 2 {
		t.Errorf("ended with %v after %q", err, a.asked)
	}
	s.Close()
	moved := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer moved.Close()
	for base, want := range map[string]string{s.URL: "refused", moved.URL: "302", "http://\x7f": "", "http://127.0.0.1:0/" + key: ""} {
		_, _, err := read(t.Context(), &youtube.Chat{Base: base, Key: key, Video: "vid"})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "key=") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

func TestTooMuch(t *testing.T) {
	a := &api{answers: []answer{ok(`{"items":[` + strings.Repeat(" ", 9<<20) + `]}`), ok("<html>")}}
	chat := &youtube.Chat{Key: key, Video: "vid", Client: &http.Client{Transport: a}}
	for _, want := range []string{"more than", "no JSON"} {
		if _, _, err := read(t.Context(), chat); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
