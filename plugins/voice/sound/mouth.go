package sound

import (
	"math"
	"slices"

	"github.com/companiond/companiond/abi"
)

// frame is how many milliseconds of a clip have one loudness: two pictures of a film of sixty.
const frame = 33

// quiet is a loudness below which nobody is heard to speak: -50 dB.
const quiet = 0.003

// least is how far a mouth opens at the least; what would be less is shut.
const least = 0.06

// Mouth tells from the loudness how far a mouth opens, all through the clip. It is open where the clip is about as loud
// as in its loudest places, and shut where nothing is heard. Shapes are not known.
func (c Clip) Mouth() []abi.Viseme {
	total := int(math.Round(c.Seconds() * 1000))
	var loud []float64
	for start := 0; start < total; start += frame {
		from, to := c.index(start), c.index(min(total, start+frame))
		loud = append(loud, rms(c.Samples[from:to]))
	}
	if len(loud) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(loud))
	full := sorted[(len(sorted)-1)*95/100] // one crack is not the measure of all
	var all []abi.Viseme
	for i, l := range loud {
		v := abi.Viseme{MS: min(frame, total-i*frame)}
		if full > quiet && l/full >= least {
			v.Open = Hundredths(min(1, l/full))
		}
		if n := len(all); n > 0 && all[n-1].Open == v.Open {
			all[n-1].MS += v.MS
			continue
		}
		all = append(all, v)
	}
	return all
}

// index gives the sample at a time in milliseconds.
func (c Clip) index(ms int) int { return min(len(c.Samples), ms*c.Rate/1000) }

func rms(samples []float32) float64 {
	if len(samples) == 0 {
		return 0
	}
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(len(samples)))
}

// Hundredths rounds to two places, which is all that a mouth shows.
func Hundredths(v float64) float64 { return math.Round(v*100) / 100 }
