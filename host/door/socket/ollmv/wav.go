package ollmv

import (
	"encoding/binary"
	"math"
)

// sliceMS is how many milliseconds of a sound have one volume.
const sliceMS = 20

// volumes says how loud a WAV of 16 bits a sample is, slice by slice, from 0 to 1 where it is loudest: a mouth moves by them. Any
// other sounds, and the mouth stays as it is.
func volumes(wav []byte) []float64 {
	samples, rate := pcm(wav)
	span := rate * sliceMS / 1000
	all := []float64{}
	if span == 0 {
		return all
	}
	most := 0.0
	for len(samples) >= 2 {
		n := min(2*span, len(samples)&^1)
		sum := 0.0
		for i := 0; i < n; i += 2 {
			v := float64(int16(binary.LittleEndian.Uint16(samples[i:])))
			sum += v * v
		}
		v := math.Sqrt(sum / float64(n/2))
		all, most, samples = append(all, v), max(most, v), samples[n:]
	}
	for i := range all {
		all[i] = math.Round(100*all[i]/max(most, 1)) / 100
	}
	return all
}

// pcm gives the samples of a WAV of 16 bits, and how many bytes of 2 there are of them a second, of all channels; none of what is no such file.
func pcm(wav []byte) (samples []byte, rate int) {
	if len(wav) < 12 || string(wav[:4]) != "RIFF" || string(wav[8:12]) != "WAVE" {
		return nil, 0
	}
	for rest := wav[12:]; len(rest) >= 8; {
		id, size, body := string(rest[:4]), binary.LittleEndian.Uint32(rest[4:]), rest[8:]
		n := int(min(int64(size), int64(len(body)))) // whatever it says, and however small an int is
		switch {
		case id == "fmt " && n >= 16:
			if binary.LittleEndian.Uint16(body) != 1 || binary.LittleEndian.Uint16(body[14:]) != 16 {
				return nil, 0
			}
			rate = int(min(binary.LittleEndian.Uint32(body[4:]), 1<<20)) * int(min(binary.LittleEndian.Uint16(body[2:]), 8))
		case id == "data":
			return body[:n], rate
		}
		rest = body[min(n+n&1, len(body)):]
	}
	return nil, 0
}
