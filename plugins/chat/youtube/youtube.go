// Package youtube reads the live chat of a video of YouTube, page by page, as the Data API of version 3 gives it to anybody with
// a key. It asks no more often than YouTube says, and after a refusal later and later.
//
// The key stands in no error. The package writes nothing, picks nothing, and knows no companion.
package youtube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/companiond/companiond/plugins/chat/line"
)

// Base is where YouTube's API is.
const Base = "https://www.googleapis.com/youtube/v3"

// How long things take, and how much is read.
const (
	asking    = 30 * time.Second
	shortest  = time.Second
	longest   = 5 * time.Minute
	notYet    = time.Minute // until it is asked again whether a stream has begun
	quotaWait = time.Minute // after the first refusal for the day's quota, twice that after the next
	quotaMost = time.Hour
	rateWait  = 5 * time.Second // after one for asking too often
	rateMost  = 5 * time.Minute
	maxPage   = 8 << 20
)

// Chat is the chat of one video. It remembers how far it was read, and is run by one at a time.
type Chat struct {
	Base    string // Base where it is empty
	Key     string
	Video   string
	AtLeast time.Duration // between two pages, where YouTube asks for less
	Client  *http.Client  // nil is one of its own

	chat    string // its id
	page    string // the token of the page that comes next
	heard   bool   // a page was read before
	refused int    // how often in a row
}

// Run reads until ctx ends, the stream does ([line.ErrOver]), or a page cannot be had; a [*line.Later] says not to ask before a
// while. Up is called when there is a chat, tell with each thing that happens there. Comments that were there before the first
// page is read are told as past.
func (c *Chat) Run(ctx context.Context, up func(), tell func(line.Event)) error {
	if c.chat == "" {
		if err := c.find(ctx); err != nil {
			return err
		}
	}
	for first := true; ; first = false {
		p, err := c.read(ctx)
		if err != nil {
			return err
		}
		if first {
			up()
		}
		over := p.OfflineAt != ""
		for _, raw := range p.Items {
			e, ended := event(raw, c.Video)
			over = over || ended
			if e.Line != nil {
				e.Line.Past = !c.heard
			}
			if e != (line.Event{}) {
				tell(e)
			}
		}
		c.heard = true
		if p.Next != "" {
			c.page = p.Next
		}
		if over {
			c.chat, c.page = "", ""
			return fmt.Errorf("the stream %s has ended: %w", c.Video, line.ErrOver)
		}
		if err := pause(ctx, c.interval(p)); err != nil {
			return err
		}
	}
}

// interval is how long to wait for the next page.
func (c *Chat) interval(p page) time.Duration {
	asked := time.Duration(min(p.Interval, longest.Milliseconds())) * time.Millisecond
	return max(asked, c.AtLeast, shortest)
}

func pause(ctx context.Context, d time.Duration) error {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return nil
	}
}

// find asks which chat the video has.
func (c *Chat) find(ctx context.Context) error {
	var found struct {
		Items []struct {
			Live struct {
				Chat  string `json:"activeLiveChatId"`
				Ended string `json:"actualEndTime"`
			} `json:"liveStreamingDetails"`
		} `json:"items"`
	}
	if err := c.get(ctx, "/videos", url.Values{"part": {"liveStreamingDetails"}, "id": {c.Video}}, &found); err != nil {
		return err
	}
	switch {
	case len(found.Items) == 0:
		return &line.Later{Err: fmt.Errorf("there is no video %s; settings.youtube takes what stands behind v= in its address", c.Video), After: notYet}
	case found.Items[0].Live.Ended != "":
		return fmt.Errorf("the stream %s has ended: %w", c.Video, line.ErrOver)
	case found.Items[0].Live.Chat == "":
		return &line.Later{Err: fmt.Errorf("the video %s has no live chat yet", c.Video), After: notYet}
	}
	c.chat = found.Items[0].Live.Chat
	return nil
}

// page is what one request gives.
type page struct {
	Next      string            `json:"nextPageToken"`
	Interval  int64             `json:"pollingIntervalMillis"`
	OfflineAt string            `json:"offlineAt"`
	Items     []json.RawMessage `json:"items"`
}

func (c *Chat) read(ctx context.Context) (p page, err error) {
	q := url.Values{"liveChatId": {c.chat}, "part": {"id,snippet,authorDetails"}, "maxResults": {"2000"}}
	if c.page != "" {
		q.Set("pageToken", c.page)
	}
	return p, c.get(ctx, "/liveChat/messages", q, &p)
}

// get asks for something, and decodes the answer into v.
func (c *Chat) get(ctx context.Context, path string, q url.Values, v any) error {
	base := c.Base
	if base == "" {
		base = Base
	}
	q.Set("key", c.Key)
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+path+"?"+q.Encode(), nil)
	if err != nil {
		return c.clean(err)
	}
	resp, err := c.client().Do(req)
	if err != nil {
		return c.clean(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	switch {
	case err != nil:
		return c.clean(err)
	case len(body) > maxPage:
		return fmt.Errorf("a page of more than %d bytes", maxPage)
	case resp.StatusCode != http.StatusOK:
		return c.refusal(resp.StatusCode, body)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return c.clean(fmt.Errorf("the answer is no JSON of YouTube's: %w", err))
	}
	c.refused = 0
	return nil
}

// lone follows nobody elsewhere: the key stands in the address.
var lone = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (c *Chat) client() *http.Client {
	if c.Client != nil {
		return c.Client
	}
	return lone
}

// clean takes the address, in which the key stands, and the key itself out of an error.
func (c *Chat) clean(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if c.Key != "" && strings.Contains(err.Error(), c.Key) {
		return errors.New(strings.ReplaceAll(err.Error(), c.Key, "KEY"))
	}
	return err
}

// refusal makes an error of an answer that is none.
func (c *Chat) refusal(status int, body []byte) error {
	var r struct {
		Error struct {
			Message string `json:"message"`
			Errors  []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &r) // one that is no JSON has its number
	reason := ""
	if len(r.Error.Errors) > 0 {
		reason = r.Error.Errors[0].Reason
	}
	err := c.clean(fmt.Errorf("YouTube answers %d %s: %s", status, line.Name(reason), line.Plain(line.Unmarked(r.Error.Message))))
	switch reason {
	case "liveChatEnded":
		c.chat, c.page = "", ""
		return fmt.Errorf("%w: %w", err, line.ErrOver)
	case "quotaExceeded", "dailyLimitExceeded":
		return &line.Later{Err: fmt.Errorf("%w (the key's quota of the day is used up; a page costs 5 units)", err), After: c.longer(quotaWait, quotaMost)}
	case "rateLimitExceeded", "userRateLimitExceeded":
		return &line.Later{Err: err, After: c.longer(rateWait, rateMost)}
	case "pageTokenInvalid", "invalidPageToken":
		c.page = ""
		return &line.Later{Err: err, After: c.longer(rateWait, rateMost)}
	case "liveChatNotFound":
		c.chat, c.page = "", ""
	}
	if status == http.StatusTooManyRequests || status < 500 {
		return &line.Later{Err: err, After: c.longer(rateWait, rateMost)}
	}
	return err
}

// longer gives twice as long as after the refusal before.
func (c *Chat) longer(from, most time.Duration) time.Duration {
	wait := min(most, from<<min(c.refused, 20))
	c.refused++
	return wait
}
