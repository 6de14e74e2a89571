package sound

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Formats of samples in a WAV file.
const (
	formatPCM        = 1
	formatFloat      = 3
	formatExtensible = 0xfffe // the true one stands behind
)

// Bounds of what is read.
const (
	minRate     = 4000
	maxRate     = 192000
	maxChannels = 8
)

// header is how many bytes stand before the samples of what WAV writes.
const header = 44

// format is what the chunk fmt says.
type format struct {
	tag, channels, bits int
	rate                int
}

// Read reads a WAV file: samples of 8, 16, 24 or 32 bits, whole or with a point, also of 64 with a point, with chunks
// in any order, and mixes its channels. A file that was sent while it was made says that it has no samples, or more
// than there are: then all that is there are its samples.
func Read(b []byte) (Clip, error) {
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		return Clip{}, errors.New("it is no WAV file")
	}
	var f *format
	var samples []byte
	found := false
	for rest := b[12:]; len(rest) >= 8; {
		name, size := string(rest[:4]), uint64(binary.LittleEndian.Uint32(rest[4:8]))
		rest = rest[8:]
		if size > uint64(len(rest)) || name == "data" && size == 0 {
			size = uint64(len(rest))
		}
		body := rest[:size]
		rest = rest[min(uint64(len(rest)), size+size%2):] // chunks begin at even bytes
		switch {
		case name == "fmt " && f == nil:
			var err error
			if f, err = readFormat(body); err != nil {
				return Clip{}, err
			}
		case name == "data" && !found:
			samples, found = body, true
		}
	}
	switch {
	case f == nil:
		return Clip{}, errors.New("the WAV file does not say what its samples are (fmt)")
	case !found:
		return Clip{}, errors.New("the WAV file has no samples (data)")
	}
	return f.clip(samples), nil
}

func readFormat(b []byte) (*format, error) {
	if len(b) < 16 {
		return nil, fmt.Errorf("the WAV file says too little of its samples: %d bytes", len(b))
	}
	f := &format{
		tag: int(binary.LittleEndian.Uint16(b)), channels: int(binary.LittleEndian.Uint16(b[2:])),
		rate: int(binary.LittleEndian.Uint32(b[4:])), bits: int(binary.LittleEndian.Uint16(b[14:])),
	}
	if f.tag == formatExtensible && len(b) >= 26 {
		f.tag = int(binary.LittleEndian.Uint16(b[24:]))
	}
	switch {
	case f.rate < minRate || f.rate > maxRate:
		return nil, fmt.Errorf("the WAV file has %d samples a second, which is not from %d to %d", f.rate, minRate, maxRate)
	case f.channels < 1 || f.channels > maxChannels:
		return nil, fmt.Errorf("the WAV file has %d channels, which is not from 1 to %d", f.channels, maxChannels)
	case f.tag == formatPCM && (f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32):
	case f.tag == formatFloat && (f.bits == 32 || f.bits == 64):
	default:
		return nil, fmt.Errorf("the WAV file has samples of the kind %d with %d bits, which are not read", f.tag, f.bits)
	}
	return f, nil
}

// clip reads samples; those of all channels are mixed. A last one that is not whole is dropped.
func (f *format) clip(b []byte) Clip {
	width := f.bits / 8
	c := Clip{Rate: f.rate, Samples: make([]float32, len(b)/(width*f.channels))}
	for i := range c.Samples {
		sum := 0.0
		for range f.channels {
			sum += f.sample(b)
			b = b[width:]
		}
		c.Samples[i] = float32(sum / float64(f.channels))
	}
	return c
}

// sample reads the first sample. One that is no number is silence.
func (f *format) sample(b []byte) float64 {
	switch {
	case f.tag == formatFloat && f.bits == 32:
		return sane(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case f.tag == formatFloat:
		return sane(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case f.bits == 8: // alone without a sign
		return (float64(b[0]) - 128) / 128
	case f.bits == 16:
		return float64(int16(binary.LittleEndian.Uint16(b))) / (1 << 15)
	case f.bits == 24:
		return float64(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / (1 << 31)
	}
	return float64(int32(binary.LittleEndian.Uint32(b))) / (1 << 31)
}

func sane(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return max(-1, min(1, v))
}

// ReadPCM reads bare samples of 16 bits with the low byte first, of one channel.
func ReadPCM(b []byte, rate int) Clip {
	f := format{tag: formatPCM, channels: 1, bits: 16, rate: rate}
	return f.clip(b)
}

// WAV writes the clip as a file with samples of 16 bits.
func (c Clip) WAV() []byte {
	size := 2 * len(c.Samples)
	b := make([]byte, 0, header+size)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(header-8+size))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, formatPCM)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(c.Rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(2*c.Rate))
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	for _, s := range c.Samples {
		v := math.Round(float64(s) * (1 << 15))
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(max(-1<<15, min(1<<15-1, v)))))
	}
	return b
}
