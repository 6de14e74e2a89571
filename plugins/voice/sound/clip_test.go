package sound_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/sound"
)

// tone makes a tone.
func tone(rate int, hertz, loud, seconds float64) sound.Clip {
	c := sound.Clip{Rate: rate, Samples: make([]float32, int(float64(rate)*seconds))}
	for i := range c.Samples {
		c.Samples[i] = float32(loud * math.Sin(2*math.Pi*hertz*float64(i)/float64(rate)))
	}
	return c
}

// strength measures how much of a tone is in a clip: about half of how loud it is. Its beginning and end are left out.
func strength(c sound.Clip, hertz float64) float64 {
	var re, im float64
	from, to := len(c.Samples)/4, len(c.Samples)*3/4
	for i := from; i < to; i++ {
		w := 2 * math.Pi * hertz * float64(i) / float64(c.Rate)
		re += float64(c.Samples[i]) * math.Cos(w)
		im += float64(c.Samples[i]) * math.Sin(w)
	}
	return math.Hypot(re, im) / float64(to-from)
}

// TestAnotherRate: a tone that the new rate can hold stays as loud and as high; one that it cannot hold is gone, and
// does not come back as another.
func TestAnotherRate(t *testing.T) {
	for _, from := range []int{8000, 16000, 22050, 24000, 44100, 48000} {
		for _, to := range []int{8000, 16000, 24000} {
			c := tone(from, 1000, 0.8, 0.5).At(to)
			if c.Rate != to || math.Abs(c.Seconds()-0.5) > 0.001 {
				t.Errorf("%d to %d: %d, %v s", from, to, c.Rate, c.Seconds())
			}
			if s := strength(c, 1000); math.Abs(s-0.4) > 0.01 {
				t.Errorf("%d to %d: of a tone of 0.4 there is %.3f", from, to, s)
			}
			if high := 0.45 * float64(from); high > 0.6*float64(to) {
				c := tone(from, high, 0.8, 0.5).At(to)
				sum := 0.0
				for _, s := range c.Samples[len(c.Samples)/4 : len(c.Samples)*3/4] {
					sum = max(sum, math.Abs(float64(s)))
				}
				if sum > 0.01 {
					t.Errorf("%d to %d: of a tone that is too high there is %.3f", from, to, sum)
				}
			}
		}
	}
	same := tone(16000, 1000, 1, 0.1)
	if got := same.At(16000); &got.Samples[0] != &same.Samples[0] {
		t.Error("a clip that has the rate is made anew")
	}
	if got := (sound.Clip{Rate: 44100}).At(8000); len(got.Samples) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestLouderAndJoined(t *testing.T) {
	a := tone(24000, 440, 0.2, 0.5)
	if s := strength(a.Louder(2), 440); math.Abs(s-0.2) > 0.001 {
		t.Errorf("%.3f", s)
	}
	if s := strength(a, 440); math.Abs(s-0.1) > 0.001 {
		t.Errorf("the clip itself is %.3f now", s)
	}
	both := sound.Join(a, sound.Silence(100*time.Millisecond), tone(48000, 440, 0.2, 0.4))
	if both.Rate != 24000 || math.Abs(both.Seconds()-1) > 0.001 {
		t.Errorf("%d, %v s", both.Rate, both.Seconds())
	}
	if none := sound.Join(); none.Seconds() != 0 {
		t.Errorf("%+v", none)
	}
}

// TestFits: a clip is brought to the highest rate at which it has room, and refused where there is none. Its length
// stays.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		rate    int
		seconds float64
		want    int // the rate; 0 is refused
	}{
		{24000, 5, 24000}, {48000, 5, 48000}, {44100, 9, 24000}, {48000, 14.9, 24000}, {24000, 15.5, 16000},
		{22050, 20, 16000}, {44100, 30, 8000}, {16000, 40, 8000}, {24000, 45, 0}, {8000, 45, 0}, {4000, 60, 4000},
	} {
		b, err := sound.Clip{Rate: c.rate, Samples: make([]float32, int(float64(c.rate)*c.seconds))}.Fit(abi.MaxBlob)
		if c.want == 0 {
			if abi.CodeOf(err) != abi.CodeTooLarge {
				t.Errorf("%d, %v s: %v", c.rate, c.seconds, err)
			}
			continue
		}
		got, bad := sound.Read(b)
		if err != nil || bad != nil || len(b) > abi.MaxBlob || got.Rate != c.want || math.Abs(got.Seconds()-c.seconds) > 0.001 {
			t.Errorf("%d, %v s: %d bytes, %d, %v s, %v, %v", c.rate, c.seconds, len(b), got.Rate, got.Seconds(), err, bad)
		}
	}
}

// TestFitIsWithinItsLimit holds that no clip is written that is larger than it may be.
func TestFitIsWithinItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := sound.Clip{Rate: rapid.IntRange(4000, 48000).Draw(t, "rate"), Samples: make([]float32, rapid.IntRange(0, 4000).Draw(t, "samples"))}
		limit := rapid.IntRange(44, 6000).Draw(t, "limit")
		if b, err := c.Fit(limit); err == nil && len(b) > limit {
			t.Fatalf("%d bytes, at most %d", len(b), limit)
		}
	})
}

// TestMouth: it is open where there is a sound, shut where there is none, half open where it is half as loud.
func TestMouth(t *testing.T) {
	c := sound.Join(tone(24000, 300, 0.5, 0.33), sound.Silence(330*time.Millisecond), tone(24000, 300, 0.25, 0.33), tone(24000, 300, 0.5, 0.01))
	at := func(ms int) float64 {
		for _, v := range c.Mouth() {
			if ms -= v.MS; ms < 0 {
				return v.Open
			}
		}
		t.Fatal("it ends before")
		return 0
	}
	for ms, want := range map[int]float64{100: 1, 250: 1, 400: 0, 600: 0, 800: 0.5, 950: 0.5} {
		if got := at(ms); math.Abs(got-want) > 0.05 {
			t.Errorf("after %d ms it is %v open, want %v", ms, got, want)
		}
	}
	total := 0
	for _, v := range c.Mouth() {
		total += v.MS
	}
	if total != 1000 {
		t.Errorf("it moves for %d ms", total)
	}
	if m := sound.Silence(time.Second).Mouth(); len(m) != 1 || m[0] != (abi.Viseme{MS: 1000}) {
		t.Errorf("%+v", m)
	}
	if m := tone(24000, 300, 0.001, 1).Mouth(); len(m) != 1 || m[0].Open != 0 { // the noise of an empty room
		t.Errorf("%+v", m)
	}
	if m := (sound.Clip{Rate: 24000}).Mouth(); m != nil {
		t.Errorf("%+v", m)
	}
}

func BenchmarkToALowerRate(b *testing.B) {
	c := tone(44100, 1000, 0.5, 10)
	for b.Loop() {
		c.At(24000)
	}
}
