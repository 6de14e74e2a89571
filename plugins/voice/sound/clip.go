// Package sound holds the sound of a voice: it reads it from WAV files and bare samples, makes it louder, smaller and
// longer, writes it as a WAV file that fits into a blob, and reads from its loudness how far a mouth opens. It makes
// no sound of its own but silence, knows nobody who makes it, and reaches nothing.
package sound

import (
	"math"
	"time"

	"github.com/companiond/companiond/abi"
)

// Clip is a sound with one channel. Its samples are never changed once it is made.
type Clip struct {
	Rate    int       // samples a second
	Samples []float32 // -1..1; those beyond are cut when it is written
}

// Silence makes a clip in which nothing is heard.
func Silence(d time.Duration) Clip {
	const rate = 24000
	return Clip{Rate: rate, Samples: make([]float32, int(d.Seconds()*rate))}
}

// Seconds tells how long the clip is.
func (c Clip) Seconds() float64 {
	if c.Rate == 0 {
		return 0
	}
	return float64(len(c.Samples)) / float64(c.Rate)
}

// Louder makes all of it louder, by a factor; below 1 it becomes softer.
func (c Clip) Louder(factor float64) Clip {
	louder := make([]float32, len(c.Samples))
	for i, s := range c.Samples {
		louder[i] = s * float32(factor)
	}
	return Clip{c.Rate, louder}
}

// Join makes one clip of several, at the rate of the first.
func Join(clips ...Clip) Clip {
	if len(clips) == 0 {
		return Clip{}
	}
	all := Clip{Rate: clips[0].Rate}
	for _, c := range clips {
		all.Samples = append(all.Samples, c.At(all.Rate).Samples...)
	}
	return all
}

// crossings is how many crossings of zero the filter of At has on each side: what it lets through of tones that the
// new rate cannot hold is below what is heard of a voice.
const crossings = 16

// At gives the clip at another rate.
func (c Clip) At(rate int) Clip {
	if rate == c.Rate || c.Rate <= 0 || rate <= 0 || len(c.Samples) == 0 {
		return c
	}
	divisor := gcd(rate, c.Rate)
	up, down := rate/divisor, c.Rate/divisor // the filter repeats itself every up samples
	cut := min(1, float64(rate)/float64(c.Rate))
	half := int(math.Ceil(crossings / cut))
	phases := make([][]float32, up)
	out := make([]float32, int(int64(len(c.Samples))*int64(up)/int64(down)))
	for i := range out {
		at := int64(i) * int64(down)
		phase, first := int(at%int64(up)), int(at/int64(up))-half+1
		if phases[phase] == nil {
			phases[phase] = taps(float64(phase)/float64(up), cut, half)
		}
		var sum float32
		for k, tap := range phases[phase] {
			if n := first + k; n >= 0 && n < len(c.Samples) {
				sum += tap * c.Samples[n]
			}
		}
		out[i] = sum
	}
	return Clip{rate, out}
}

// taps gives the filter for a place between two samples: a sinc in a Hann window, whose sum is 1 so that loudness stays.
func taps(between, cut float64, half int) []float32 {
	weights := make([]float64, 2*half)
	sum := 0.0
	for k := range weights {
		x := float64(k-half+1) - between
		w := cut
		if x != 0 {
			w = math.Sin(math.Pi*x*cut) / (math.Pi * x)
		}
		w *= 0.5 + 0.5*math.Cos(math.Pi*x/float64(half))
		if math.Abs(x) >= float64(half) {
			w = 0
		}
		weights[k], sum = w, sum+w
	}
	all := make([]float32, len(weights))
	for k, w := range weights {
		all[k] = float32(w / sum)
	}
	return all
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// rates are those that a clip is brought to, one after the other, until it fits. A voice is still understood at the last.
var rates = []int{24000, 16000, 8000}

// Fit writes the clip as a WAV file of at most limit bytes: as it is where it fits, else at lower rates. One that is
// too long even so is refused with abi.CodeTooLarge.
func (c Clip) Fit(limit int) ([]byte, error) {
	if header+2*len(c.Samples) <= limit {
		return c.WAV(), nil
	}
	for _, rate := range rates {
		if rate >= c.Rate || header+2*(int(c.Seconds()*float64(rate))+1) > limit {
			continue
		}
		return c.At(rate).WAV(), nil
	}
	lowest := min(c.Rate, rates[len(rates)-1])
	return nil, abi.Errorf(abi.CodeTooLarge, "it takes %.0f s to say, and a part of a line may take %d", c.Seconds(), (limit-header)/2/max(lowest, 1))
}
