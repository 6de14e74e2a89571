package companion

import (
	"testing"
	"time"

	"github.com/companiond/companiond/abi"
)

// TestLocalRemembers as the daemon does, as far as a character's own tests need it.
func TestLocalRemembers(t *testing.T) {
	var do func(h *Host)
	l := NewLocal(Character{Name: "Dia", Speak: func(h *Host, _ Scene) Line {
		do(h)
		return Line{}
	}})
	noon := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	l.Clock = func() time.Time { return noon }
	l.History = []Message{{Seq: 7, From: "taro", Text: "My cat is called Mike.", At: noon.Add(-time.Hour)}}
	run := func(f func(h *Host)) {
		t.Helper()
		do = f
		if _, err := l.Speak(Scene{}); err != nil {
			t.Fatal(err)
		}
	}
	var first abi.Memory
	run(func(h *Host) {
		var err error
		if first, err = h.Remember(abi.MemoryAdd{Text: "taro's cat is called Mike", Quote: "My cat is called Mike", Turn: 7, About: []string{"taro"}, Keys: []string{"猫"}}); err != nil {
			t.Fatal(err)
		}
	})
	if first.SaidBy != "taro" || !first.SaidAt.Equal(noon.Add(-time.Hour)) || first.Kind != abi.MemoryFact || first.Importance != 3 || first.Room != "main" {
		t.Errorf("%+v", first)
	}
	for name, tc := range map[string]struct {
		a    abi.MemoryAdd
		code abi.Code
	}{
		"another quotation": {abi.MemoryAdd{Text: "x", Quote: "Tama", Turn: 7}, abi.CodeInvalid},
		"no such turn":      {abi.MemoryAdd{Text: "x", Quote: "x", Turn: 8}, abi.CodeNotFound},
		"nothing":           {abi.MemoryAdd{}, abi.CodeInvalid},
		"no turn":           {abi.MemoryAdd{Text: "x", Quote: "x"}, abi.CodeInvalid},
	} {
		run(func(h *Host) {
			if _, err := h.Remember(tc.a); abi.CodeOf(err) != tc.code {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	recall := func(ask abi.MemoryAsk, want ...string) {
		t.Helper()
		run(func(h *Host) {
			found, err := h.Recall(ask)
			texts := []string{}
			for _, m := range found {
				texts = append(texts, m.Text)
			}
			if err != nil || len(texts) != len(want) || len(want) > 0 && texts[0] != want[0] {
				t.Errorf("%+v finds %q, %v", ask, texts, err)
			}
		})
	}
	recall(abi.MemoryAsk{Text: "What is my cat called?"}, "taro's cat is called Mike")
	recall(abi.MemoryAsk{Text: "うちの猫は？"}, "taro's cat is called Mike")
	recall(abi.MemoryAsk{Text: "犬は？"})
	recall(abi.MemoryAsk{About: []string{"hana"}})
	run(func(h *Host) {
		if _, err := h.Remember(abi.MemoryAdd{Text: "the cat is called Tama", Replaces: []string{first.ID}}); err != nil {
			t.Fatal(err)
		}
	})
	recall(abi.MemoryAsk{Text: "cat"}, "the cat is called Tama")
	recall(abi.MemoryAsk{Text: "cat", Past: true}, "the cat is called Tama", "taro's cat is called Mike")
	recall(abi.MemoryAsk{Past: true, Limit: 1}, "the cat is called Tama")
}
