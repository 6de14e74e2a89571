package studio_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/studio"
	companion "github.com/companiond/companiond/sdk/go"
)

const espeak = `{"engine":"espeak-ng"}`

func TestDescribed(t *testing.T) {
	d, err := companion.NewLocalHandler(studio.Handler()).Describe()
	if err != nil || d.Name != "Voice" || d.Kind != abi.Handler || strings.Join(d.Ops, " ") != "describe run show" || strings.Join(d.Needs, " ") != "blob.put sound.emit" || len(d.Actions) != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestLinesBecomeSounds: espeak-ng says a line in Japanese and one in English, and the mouth moves to it.
func TestLinesBecomeSounds(t *testing.T) {
	needEspeak(t)
	s := newStage(t)
	s.run(espeak, "aya", "kyoko")
	s.show(espeak, "aya", piece("g-1", 1, "こんにちは、みなさん。"), piece("g-1", 2, "きょうは、いいてんきですね。"))
	s.show(espeak, "kyoko", piece("g-2", 1, "Good morning, everybody!"), abi.Shown{Kind: abi.ShowWhole, Line: "g-2", Part: 1, Text: "Good morning, everybody!"})
	s.show(espeak, "nobody", piece("g-3", 1, "This is no companion of the handler's."))
	seen := map[string]int{}
	for _, it := range s.sounds(3) {
		if it.Failed != "" || it.Part != seen[it.Line]+1 || it.Companion != map[string]string{"g-1": "aya", "g-2": "kyoko"}[it.Line] {
			t.Errorf("%+v", it)
		}
		seen[it.Line]++
		clip, mouth := s.heard(it)
		opened, shut := 0, 0
		for _, v := range mouth {
			if v.Open > 0.5 {
				opened += v.MS
			} else if v.Open == 0 {
				shut += v.MS
			}
		}
		if clip.Seconds() < 0.5 || clip.Seconds() > 6 || opened < 200 || shut < 30 {
			t.Errorf("%+v: %v s, open for %d ms, shut for %d", it, clip.Seconds(), opened, shut)
		}
	}
	if logs := s.logs(); len(logs) != 0 {
		t.Errorf("%q", logs)
	}
}

// TestOrder: the parts of a line are made at once and told in their order, also where the first takes longest. Another
// line does not wait for it.
func TestOrder(t *testing.T) {
	d, address := newSpeaker(t)
	others := make(chan struct{}, 10)
	began, first := make(chan struct{}), make(chan struct{})
	d.before = func(_ context.Context, text string) bool {
		if text == "one" {
			close(began)
			<-first
			return true
		}
		<-began
		others <- struct{}{}
		return true
	}
	settings := fmt.Sprintf(`{"engine":"openai","address":%q,"parallel":3}`, address)
	s := newStage(t)
	s.run(settings, "aya", "kyoko")
	s.show(settings, "aya", piece("g-1", 1, "one"), piece("g-1", 2, "two"), piece("g-1", 3, "three"), piece("g-1", 4, "four"))
	s.show(settings, "kyoko", piece("g-2", 1, "five"))
	for range 4 {
		<-others
	}
	if got := s.sounds(1); got[0].Line != "g-2" {
		t.Errorf("told before the first is made: %+v", got)
	}
	close(first)
	for i, it := range s.sounds(5)[1:] {
		if it.Line != "g-1" || it.Part != i+1 || it.Failed != "" {
			t.Errorf("part %d is %+v", i+1, it)
		}
		s.heard(it)
	}
	if d.most < 2 || d.most > 3 {
		t.Errorf("%d parts are made at once, want up to 3", d.most)
	}
}

// TestAsManyAsTheSettingsSay: two at once where they do not say.
func TestAsManyAsTheSettingsSay(t *testing.T) {
	for settings, want := range map[string]int{`{"engine":"openai","address":%q,"parallel":1}`: 1, `{"engine":"openai","address":%q}`: 2} {
		d, address := newSpeaker(t)
		settings = fmt.Sprintf(settings, address)
		arrived, leave := make(chan struct{}, 20), make(chan struct{})
		d.before = func(context.Context, string) bool { arrived <- struct{}{}; <-leave; return true }
		s := newStage(t)
		s.run(settings, "aya")
		for i := range 6 {
			s.show(settings, "aya", piece("g-1", i+1, fmt.Sprint("part ", i+1)))
		}
		for range want {
			<-arrived
		}
		close(leave)
		s.sounds(6)
		if d.most != want {
			t.Errorf("%s: %d at once", settings, d.most)
		}
	}
}

// TestDropped: what is of a line that is over is neither made nor told, and what is being made is given up. STOP ends
// all lines of a companion.
func TestDropped(t *testing.T) {
	for _, kind := range []string{abi.ShowEnd, abi.ShowStop} {
		d, address := newSpeaker(t)
		arrived, gone := make(chan string, 10), make(chan string, 10)
		d.before = func(ctx context.Context, text string) bool {
			if text == "after" || text == "another" {
				return true
			}
			arrived <- text
			<-ctx.Done()
			gone <- text
			return false
		}
		settings := fmt.Sprintf(`{"engine":"openai","address":%q,"parallel":1}`, address)
		s := newStage(t)
		s.run(settings, "aya", "kyoko")
		s.show(settings, "aya", piece("g-1", 1, "now"), piece("g-1", 2, "next"))
		s.show(settings, "kyoko", piece("g-2", 1, "another"))
		if got := <-arrived; got != "now" {
			t.Errorf("first %q is made", got)
		}
		s.show(settings, "aya", abi.Shown{Kind: kind, Line: map[string]string{abi.ShowEnd: "g-1"}[kind], End: "cut"})
		if got := <-gone; got != "now" {
			t.Errorf("%q is given up", got)
		}
		s.show(settings, "aya", piece("g-3", 1, "after"))
		all := s.sounds(2)
		if all[0].Line != "g-2" || all[1].Line != "g-3" || all[0].Failed+all[1].Failed != "" {
			t.Errorf("%s: %+v", kind, all)
		}
		if got := d.all(); got != "now|another|after" {
			t.Errorf("%s: made %s", kind, got)
		}
		if logs := s.logs(); len(logs) != 0 {
			t.Errorf("%s: %q", kind, logs)
		}
	}
}

// TestWhatIsReadyIsDropped: a part that waits for the one before is not told when its line ends.
func TestWhatIsReadyIsDropped(t *testing.T) {
	d, address := newSpeaker(t)
	arrived := make(chan string, 10)
	d.before = func(ctx context.Context, text string) bool {
		arrived <- text
		if text == "one" {
			<-ctx.Done()
		}
		return text != "one"
	}
	settings := fmt.Sprintf(`{"engine":"openai","address":%q}`, address)
	s := newStage(t)
	s.run(settings, "aya")
	s.show(settings, "aya", piece("g-1", 1, "one"), piece("g-1", 2, "two"), piece("g-1", 3, "three"))
	for range 3 { // the third is begun when the second is ready
		<-arrived
	}
	s.show(settings, "aya", end("g-1"), piece("g-2", 1, "four"))
	if all := s.sounds(1); all[0].Line != "g-2" {
		t.Errorf("%+v", all)
	}
}

// TestFailures: each is told for people, and the log has it once, and when it is over.
func TestFailures(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf(`{"engine":"voicevox","address":"http://%s","key":"sk-secret","voice":{"speaker":3}}`, listener.Addr())
	_ = listener.Close()
	s := newStage(t)
	stop := s.run(settings, "aya")
	s.show(settings, "aya", piece("g-1", 1, "一つ"), piece("g-1", 2, "（笑）"), piece("g-1", 3, "三つ"))
	all := s.sounds(3)
	want := fmt.Sprintf("VOICEVOX at http://%s does not answer: start it, or write another address", listener.Addr())
	if all[0].Failed != want || all[0].Seconds != 0 || all[0].Blob.Hash != "" || all[1].Failed != "" || all[2].Failed != want || all[2].Part != 3 {
		t.Errorf("%+v", all)
	}
	stop()
	if logs := s.logs(); len(logs) != 1 || logs[0] != "WARN no voice: "+want || strings.Contains(fmt.Sprint(logs, all), "sk-secret") {
		t.Errorf("%q", logs)
	}
}

func TestVoiceComesBack(t *testing.T) {
	d, address := newSpeaker(t)
	d.before = func(_ context.Context, text string) bool { return !strings.HasPrefix(text, "no") }
	settings := fmt.Sprintf(`{"engine":"openai","address":%q,"parallel":1}`, address)
	s := newStage(t)
	stop := s.run(settings, "aya")
	s.show(settings, "aya", piece("g-1", 1, "no"), piece("g-1", 2, "nothing"), piece("g-1", 3, "yes"), piece("g-1", 4, "also"))
	all := s.sounds(4)
	if all[0].Failed == "" || all[1].Failed == "" || all[2].Failed != "" || all[3].Failed != "" {
		t.Errorf("%+v", all)
	}
	stop()
	if logs := strings.Join(s.logs(), "|"); logs != "WARN no voice: the speech server at "+address+" broke off its answer: look whether it still runs|INFO there is a voice again: the speech server at "+address {
		t.Errorf("%q", logs)
	}
}

// TestSettingsThatCannotBe: whoever waits for a sound is told why there is none.
func TestSettingsThatCannotBe(t *testing.T) {
	for settings, want := range map[string]string{
		`{"engine":"voicevox","address":"http://a:b@127.0.0.1"}`:                            "address: no name and password may stand in it",
		`{"engine":"voicevox","parallel":"two"}`:                                            "settings: ",
		`{"engine":"espeak-ng","voice":{"speaker":[]}}`:                                     "voice: ",
		`{"engine":"espeak-ng","voices":{"aya":{"emotions":{"neutral":{"speed":"fast"}}}}}`: "voices.aya.emotions.neutral: ",
	} {
		s := newStage(t)
		s.run(settings, "aya")
		s.show(settings, "aya", piece("g-1", 1, "Hello"))
		if all := s.sounds(1); !strings.HasPrefix(all[0].Failed, want) {
			t.Errorf("%s: %+v", settings, all)
		}
	}
}

// TestNothingToRead: a part of an emoji, a stage direction or an address sounds for 50 ms of nothing, and nobody is
// asked.
func TestNothingToRead(t *testing.T) {
	d, address := newSpeaker(t)
	settings := fmt.Sprintf(`{"engine":"openai","address":%q}`, address)
	s := newStage(t)
	s.run(settings, "aya")
	s.show(settings, "aya", piece("g-1", 1, "🎉"), piece("g-1", 2, "（笑）"), piece("g-1", 3, "https://example.com/a"), piece("g-1", 4, "……"), piece("g-1", 5, ""))
	for _, it := range s.sounds(5) {
		clip, mouth := s.heard(it)
		if it.Failed != "" || it.Seconds != 0.05 || clip.Seconds() != 0.05 || len(mouth) != 1 || mouth[0].Open != 0 {
			t.Errorf("%+v, %+v", it, mouth)
		}
	}
	if got := d.all(); got != "" {
		t.Errorf("asked for %q", got)
	}
}

// TestWhatIsRead: words of the dictionary as they sound, no marks, and no code that goes on from one part to the next.
func TestWhatIsRead(t *testing.T) {
	d, address := newSpeaker(t)
	settings := fmt.Sprintf(`{"engine":"openai","address":%q,"parallel":1,"dictionary":{"AI":"エーアイ","AI Companion":"エーアイコンパニオン"}}`, address)
	s := newStage(t)
	s.run(settings, "aya")
	s.show(settings, "aya", piece("g-1", 1, "**AI Companion**のAI、AIRです（笑）。"), piece("g-1", 2, "Look:\n```go\nx := 1"), piece("g-1", 3, "y := 2\n```\nand on."), piece("g-1", 4, "End."))
	s.sounds(4)
	if got := d.all(); got != "エーアイコンパニオンのエーアイ、AIRです。|Look:|and on.|End." {
		t.Errorf("%q", got)
	}
}

// TestVoices: a companion has its own voice or the usual one, and another manner where it feels so.
func TestVoices(t *testing.T) {
	d, address := newSpeaker(t)
	settings := fmt.Sprintf(`{"engine":"openai","address":%q,"parallel":1,"voice":{"speaker":"nova","speed":2},
		"voices":{"aya":{"speaker":"coral","model":"tts-1","volume":0.5,"emotions":{"happy":{"instructions":"Cheerful.","speed":1.5,"volume":2},"sad":{"speaker":"echo"}}}}}`, address)
	s := newStage(t)
	s.run(settings, "aya", "kyoko")
	emotion := func(part int, e string) abi.Shown {
		return abi.Shown{Kind: abi.ShowPiece, Line: "g-1", Part: part, Text: "Hello", Emotion: e}
	}
	s.show(settings, "aya", emotion(1, "neutral"), emotion(2, "happy"), emotion(3, "sad"), emotion(4, "happy"))
	s.show(settings, "kyoko", piece("g-2", 1, "Hello"))
	all := s.sounds(5)
	for i, want := range []string{"coral tts-1 <nil> <nil>", "coral tts-1 1.5 Cheerful.", "echo tts-1 <nil> <nil>", "coral tts-1 1.5 Cheerful.", "nova gpt-4o-mini-tts 2 <nil>"} {
		a := d.asks[i]
		if got := fmt.Sprint(a["voice"], " ", a["model"], " ", a["speed"], " ", a["instructions"]); got != want {
			t.Errorf("part %d: %s, want %s", i+1, got, want)
		}
		loudest := 0.0
		clip, _ := s.heard(all[i])
		for _, x := range clip.Samples {
			loudest = max(loudest, float64(x))
		}
		if want := []float64{0.25, 1, 0.25, 1, 0.5}[i]; math.Abs(loudest-want) > 0.01 {
			t.Errorf("part %d is %v loud, want %v", i+1, loudest, want)
		}
	}
}

// TestVoiceOfACard: where the settings say nothing of a companion its card does, and it is held to what a voice can be.
func TestVoiceOfACard(t *testing.T) {
	d, address := newSpeaker(t)
	settings := fmt.Sprintf(`{"engine":"openai","address":%q,"parallel":1,"voice":{"speaker":"nova"},"voices":{"aya":{"speaker":"coral"}}}`, address)
	s := newStage(t)
	s.run(settings, "aya", "kyoko", "natsumi")
	for i, c := range []struct{ who, card, asks, failed string }{
		{"kyoko", `{"speaker":"echo","emotions":{"happy":{"speed":1.5}}}`, "echo 1.5", ""},
		{"aya", `{"speaker":"echo"}`, "coral <nil>", ""},
		{"natsumi", "", "nova <nil>", ""},
		{"kyoko", `{"speaker":"echo","pace":2}`, "", `the voice in the card of kyoko: json: unknown field "pace"`},
		{"kyoko", `{"speed":9}`, "", "the voice in the card of kyoko: speed is 9, must be from 0.25 to 4"},
		{"kyoko", `{"emotions":{"happy":{"volume":-1}}}`, "", "the voice in the card of kyoko: volume is -1, must be from 0 to 4"},
	} {
		asked := len(d.asks)
		s.showOf(c.card, settings, c.who, abi.Shown{Kind: abi.ShowPiece, Line: fmt.Sprint("g-", i), Part: 1, Text: "Hello", Emotion: "happy"})
		if it := s.sounds(i + 1)[i]; it.Failed != c.failed {
			t.Errorf("%s: %q", c.card, it.Failed)
		}
		if c.asks == "" {
			continue
		}
		if a := d.asks[asked]; fmt.Sprint(a["voice"], " ", a["speed"]) != c.asks {
			t.Errorf("%s: asked for %v", c.card, a)
		}
	}
}

// TestLongParts: what is too large for a blob is made smaller, and told as too long where that is not enough.
func TestLongParts(t *testing.T) {
	d, address := newSpeaker(t)
	settings := fmt.Sprintf(`{"engine":"openai","address":%q}`, address)
	s := newStage(t)
	s.run(settings, "aya")
	for i, seconds := range []float64{10, 20, 40, 60, 0} {
		d.mu.Lock()
		d.wav = tone(seconds)
		d.mu.Unlock()
		s.show(settings, "aya", piece("g-1", i+1, "a long story"))
		it := s.sounds(i + 1)[i]
		if seconds == 60 {
			if it.Failed != "it takes 60 s to say, and a part of a line may take 44" || it.Blob.Hash != "" {
				t.Errorf("%+v", it)
			}
			continue
		}
		clip, _ := s.heard(it)
		if rate := map[float64]int{10: 24000, 20: 16000, 40: 8000, 0: 24000}[seconds]; clip.Rate != rate || math.Abs(clip.Seconds()-max(0.05, seconds)) > 0.01 || it.Failed != "" {
			t.Errorf("%v s: %d a second, %v s, %+v", seconds, clip.Rate, clip.Seconds(), it)
		}
	}
}

// BenchmarkPiece measures the time from a piece that is shown to its sound that is told, with espeak-ng.
func BenchmarkPiece(b *testing.B) {
	for name, text := range map[string]string{"English": "Good morning, everybody! It is a fine day.", "Japanese": "こんにちは、きょうはいいてんきですね。", "Nothing": "（笑）"} {
		b.Run(name, func(b *testing.B) {
			needEspeak(b)
			s := newStage(b)
			s.run(espeak, "aya")
			n := 0
			for b.Loop() {
				n++
				line := fmt.Sprint("g-", n)
				s.show(espeak, "aya", piece(line, 1, text))
				for op := ""; op != abi.HostSoundEmit; {
					op = <-s.asked
				}
				s.show(espeak, "aya", end(line))
			}
		})
	}
}
