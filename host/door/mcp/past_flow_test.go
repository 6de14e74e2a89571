package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/compress"
	"github.com/companiond/companiond/host/door/mcp/past"
	"github.com/companiond/companiond/host/history"
	"github.com/companiond/companiond/host/rooms"
)

// model drafts what the test says, one after the other, and finds nothing wrong: code has to.
type model struct{ drafts chan string }

func (m model) Compress(context.Context, string, abi.Compressing) (abi.Compressed, error) {
	return abi.Compressed{Text: <-m.drafts}, nil
}

func (m model) Verify(_ context.Context, _ string, v abi.Verifying) (abi.Verified, error) {
	said := abi.Verified{Verdict: abi.VerdictYes}
	for _, k := range v.Keep {
		item := abi.VerifiedItem{ID: k.ID, Status: abi.StatusKept, Quote: k.Text}
		if !strings.Contains(v.Draft, k.Text) {
			item.Status, item.Quote = abi.StatusNotNeeded, ""
		}
		said.Items = append(said.Items, item)
	}
	return said, nil
}

// TestTheArticlesFlow through the house's own service: a draft that forgets a constraint that the policy names is
// refused, from outside and from a model, the next one is not, a person approves, and reverts.
func TestTheArticlesFlow(t *testing.T) {
	const constraint = "データベースはSQLite以外を使わない。"
	for name, outside := range map[string]bool{"a draft from outside": true, "a model's": false} {
		t.Run(name, func(t *testing.T) {
			h := openArchive(t, 0)
			mind := model{make(chan string, 2)}
			var service *compress.Service
			ids := 0
			service = compress.New(compress.Config{
				Rooms: h.rooms, Mind: func(string) (compress.Mind, error) { return mind, nil }, Usual: func(string) (string, string) { return "model", "model" },
				NewID: func() string { ids++; return fmt.Sprint("c", ids) }, Log: slog.New(slog.DiscardHandler),
			})
			run(t, service.Run)
			h.through(service)
			for i := range 8 {
				text := fmt.Sprintf("そうですね、いい天気です。その%d", i)
				if i == 3 {
					text = constraint
				}
				if _, err := h.talk().Say(t.Context(), rooms.Utterance{From: "taro", Text: text}); err != nil {
					t.Fatal(err)
				}
			}
			forgets, keeps := "天気の話をした。", "決定: "+constraint
			a := h.connect(sessionEra, nil)
			args := with{"turns": "1-8", "policy": "SQLiteの制約は残す。天気の話はいらない。", "target_length": 200}
			var got with
			if outside {
				args["summary"] = forgets
				got = a.answered(summarize, args, with{"status": "rejected", "drafts": 1})
				if v := got["verification"].(with); !strings.Contains(fmt.Sprint(v["findings"]), "SQLite") || v["feedback"] == "" || !strings.Contains(fmt.Sprint(v["named"]), "kept:0 not_kept:[map[id:M2 item:"+constraint) || !strings.Contains(fmt.Sprint(v["named"]), "status:not_needed turn:4]] of:1]") {
					t.Errorf("%v", v)
				}
				args["summary"] = keeps
				got = a.answered(summarize, args, with{"status": "pending_approval", "drafts": 2})
			} else {
				mind.drafts <- forgets
				mind.drafts <- keeps
				args["timeout_seconds"] = 0
				got = a.answered(summarize, args, with{"status": "drafting"})
				got = a.answered(summarize, with{"proposal": got["proposal"]}, with{"status": "pending_approval", "drafts": 2})
			}
			if n := fmt.Sprint(got["verification"].(with)["named"]); n != "map[kept:1 not_kept:[] of:1]" {
				t.Errorf("%s", n)
			}
			if got["summary"] != keeps {
				t.Errorf("%v", got)
			}
			h.from(person("taro"))
			b := h.connect(modernEra, form("accept", "approve"))
			b.answered(replaces, nil, with{"status": past.Approved, "proposal": got["proposal"]})
			told, err := h.talk().Told(t.Context(), abi.HistoryAsk{Limit: 100})
			if err != nil || len(told.Messages) != 1 || told.Messages[0].Text != keeps || told.Messages[0].Kind != abi.KindCompressed {
				t.Errorf("%+v, %v", told, err)
			}
			h.connect(modernEra, form("accept", "revert")).answered(reverts, nil, with{"status": string(history.Reverted)})
		})
	}
}
