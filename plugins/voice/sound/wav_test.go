package sound_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/plugins/voice/sound"
)

// chunk writes a chunk of a WAV file, with the byte that fills it up.
func chunk(name string, body []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body)))
	b = append(b, body...)
	if len(body)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

func riff(chunks ...[]byte) []byte {
	body := append([]byte("WAVE"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func fmtChunk(tag, channels, rate, bits int, more ...byte) []byte {
	var b []byte
	b = binary.LittleEndian.AppendUint16(b, uint16(tag))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*channels*bits/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels*bits/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(bits))
	return chunk("fmt ", append(b, more...))
}

// halves are the samples 0.5 and -0.5 in every kind that is read.
var halves = []struct {
	name      string
	tag, bits int
	data      []byte
}{
	{"8 bits", 1, 8, []byte{192, 64}},
	{"16 bits", 1, 16, []byte{0, 0x40, 0, 0xc0}},
	{"24 bits", 1, 24, []byte{0, 0, 0x40, 0, 0, 0xc0}},
	{"32 bits", 1, 32, []byte{0, 0, 0, 0x40, 0, 0, 0, 0xc0}},
	{"32 bits with a point", 3, 32, []byte{0, 0, 0, 0x3f, 0, 0, 0, 0xbf}},
	{"64 bits with a point", 3, 64, []byte{0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 0, 0, 0, 0, 0, 0, 0xe0, 0xbf}},
}

func TestReadsEveryKind(t *testing.T) {
	for _, h := range halves {
		for what, file := range map[string][]byte{
			"plain":                    riff(fmtChunk(h.tag, 1, 24000, h.bits), chunk("data", h.data)),
			"chunks in another order":  riff(chunk("LIST", []byte("odd")), chunk("data", h.data), chunk("fact", make([]byte, 4)), fmtChunk(h.tag, 1, 24000, h.bits)),
			"extensible":               riff(fmtChunk(0xfffe, 1, 24000, h.bits, append([]byte{22, 0, 16, 0, 0, 0, 0, 0, byte(h.tag), 0}, make([]byte, 14)...)...), chunk("data", h.data)),
			"a second list of samples": riff(fmtChunk(h.tag, 1, 24000, h.bits), chunk("data", h.data), chunk("data", []byte{1, 2, 3, 4, 5, 6, 7, 8})),
		} {
			c, err := sound.Read(file)
			if err != nil || c.Rate != 24000 || len(c.Samples) != 2 || c.Samples[0] != 0.5 || c.Samples[1] != -0.5 {
				t.Errorf("%s, %s: %+v, %v", h.name, what, c, err)
			}
		}
	}
}

func TestMixesChannels(t *testing.T) {
	c, err := sound.Read(riff(fmtChunk(1, 2, 44100, 16), chunk("data", []byte{0, 0x40, 0, 0xc0, 0, 0x40, 0, 0x20, 9})))
	if err != nil || len(c.Samples) != 2 || c.Samples[0] != 0 || c.Samples[1] != 0.375 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestReadsWhatIsSentWhileItIsMade: programs that do not know yet how long it will be write 0, a number that is too
// large, or the largest one.
func TestReadsWhatIsSentWhileItIsMade(t *testing.T) {
	for _, size := range []uint32{0, 0x7ffff000, 0xffffffff} {
		file := riff(fmtChunk(1, 1, 24000, 16), chunk("data", []byte{0, 0x40, 0, 0xc0}))
		binary.LittleEndian.PutUint32(file[4:], size)
		binary.LittleEndian.PutUint32(file[len(file)-8:], size)
		if c, err := sound.Read(file); err != nil || len(c.Samples) != 2 || c.Samples[1] != -0.5 {
			t.Errorf("%#x: %+v, %v", size, c, err)
		}
	}
}

func TestRefusesWhatIsNone(t *testing.T) {
	for why, file := range map[string][]byte{
		"no WAV file":            []byte("ID3\x04 is the beginning of an MP3 file"),
		"does not say":           riff(chunk("data", []byte{1, 2})),
		"no samples":             riff(fmtChunk(1, 1, 24000, 16)),
		"too little":             riff(chunk("fmt ", make([]byte, 12))),
		"samples a second":       riff(fmtChunk(1, 1, 3, 16), chunk("data", nil)),
		"0 channels":             riff(fmtChunk(1, 0, 24000, 16), chunk("data", nil)),
		"9 channels":             riff(fmtChunk(1, 9, 24000, 16), chunk("data", nil)),
		"the kind 1 with 12":     riff(fmtChunk(1, 1, 24000, 12), chunk("data", nil)),
		"the kind 3 with 16":     riff(fmtChunk(3, 1, 24000, 16), chunk("data", nil)),
		"the kind 7 with 8":      riff(fmtChunk(7, 1, 8000, 8), chunk("data", nil)), // as telephones have it
		"the kind 65534 with 16": riff(fmtChunk(0xfffe, 1, 24000, 16), chunk("data", nil)),
	} {
		if _, err := sound.Read(file); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
}

func TestReadPCM(t *testing.T) {
	if c := sound.ReadPCM([]byte{0, 0x40, 0, 0xc0, 7}, 24000); c.Rate != 24000 || len(c.Samples) != 2 || c.Samples[0] != 0.5 || c.Samples[1] != -0.5 {
		t.Errorf("%+v", c)
	}
}

// TestWrittenIsRead: what is written is read again, with samples that are cut to -1..1 and rounded to 16 bits.
func TestWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := sound.Clip{
			Rate:    rapid.IntRange(4000, 192000).Draw(t, "rate"),
			Samples: rapid.SliceOf(rapid.Float32Range(-2, 2)).Draw(t, "samples"),
		}
		b := c.WAV()
		if len(b) != 44+2*len(c.Samples) {
			t.Fatalf("%d bytes for %d samples", len(b), len(c.Samples))
		}
		got, err := sound.Read(b)
		if err != nil || got.Rate != c.Rate || len(got.Samples) != len(c.Samples) {
			t.Fatalf("%+v, %v", got, err)
		}
		for i, s := range c.Samples {
			if want := max(-1, min(1, s)); math.Abs(float64(got.Samples[i]-want)) > 1.0/(1<<15) {
				t.Fatalf("sample %d is %v, was %v", i, got.Samples[i], s)
			}
		}
	})
}

// FuzzRead: any bytes are read or refused, and what is read can be written, brought to another rate and looked at.
func FuzzRead(f *testing.F) {
	for _, h := range halves {
		f.Add(riff(fmtChunk(h.tag, 1, 24000, h.bits), chunk("data", h.data)))
		f.Add(riff(chunk("data", h.data), fmtChunk(0xfffe, 2, 44100, h.bits, append([]byte{22, 0, 16, 0, 0, 0, 0, 0, byte(h.tag), 0}, make([]byte, 14)...)...)))
	}
	nan := riff(fmtChunk(3, 1, 24000, 32), chunk("data", []byte{0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0x7f}))
	f.Add(nan)
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := sound.Read(b)
		if err != nil {
			return
		}
		for _, s := range c.Samples {
			if !(s >= -1 && s <= 1) {
				t.Fatalf("a sample is %v", s)
			}
		}
		again, err := sound.Read(c.WAV())
		if err != nil || len(again.Samples) != len(c.Samples) && len(c.Samples) != 0 {
			t.Fatalf("%d samples, read again %d, %v", len(c.Samples), len(again.Samples), err)
		}
		total := 0
		for _, v := range c.Mouth() {
			if v.MS <= 0 || v.Open < 0 || v.Open > 1 {
				t.Fatalf("%+v", v)
			}
			total += v.MS
		}
		if math.Abs(float64(total)-c.Seconds()*1000) > 1 {
			t.Fatalf("the mouth moves for %d ms of %v s", total, c.Seconds())
		}
		if len(c.Samples) < 10000 {
			c.At(16000)
		}
	})
}
