package page_test

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/companiond/companiond/host/door/doortest/chromium"
)

// The picture in the READMEs, some ten seconds of a talk in the daemon at COMPANIOND_PICTURE: make picture.
func TestPicture(t *testing.T) {
	url := os.Getenv("COMPANIOND_PICTURE")
	if url == "" {
		t.Skip("no COMPANIOND_PICTURE: the address of a daemon, which make picture takes a picture of")
	}
	b := chromium.Open(t, "about:blank", "")
	b.Window(1000, 640, "light")
	b.Must("Page.navigate", map[string]any{"url": url + "/?lang=en"}, nil)
	b.Until("the page", `document.getElementById("status")?.textContent === "live" && !catching`)
	b.Eval(`document.getElementById("name").value = "mika"`)
	b.Eval(`document.getElementById("text").focus()`)
	f := film{b: b, every: 300 * time.Millisecond}
	for _, part := range []string{"Good eve", "ning! What ", "did you have ", "for dinner?"} {
		b.Type(part)
		f.take(t, 1)
	}
	b.Key("Enter", 0)
	f.take(t, 16)
	for _, part := range []string{"Natsumi, ", "do you like ", "cats?"} {
		b.Type(part)
		f.take(t, 1)
	}
	b.Key("Enter", 0)
	f.take(t, 10)
	if err := os.WriteFile("../../../docs/page.gif", f.gif(t), 0o600); err != nil {
		t.Fatal(err)
	}
}

// film is pictures of a page, one each so often.
type film struct {
	b      *chromium.Page
	every  time.Duration
	frames []*image.RGBA
}

func (f *film) take(t *testing.T, n int) {
	for range n {
		time.Sleep(f.every) // it is shown in the time that it took
		shown, err := png.Decode(bytes.NewReader(f.b.Picture()))
		if err != nil {
			t.Fatal(err)
		}
		frame := image.NewRGBA(shown.Bounds())
		for y := range frame.Rect.Dy() {
			for x := range frame.Rect.Dx() {
				frame.Set(x, y, shown.At(x, y))
			}
		}
		f.frames = append(f.frames, frame)
	}
}

// gif is the film in the colours that are there most. Of each picture it has what is not as in the one before.
func (f *film) gif(t *testing.T) []byte {
	often := map[color.RGBA]int{}
	for _, frame := range f.frames {
		for i := 0; i < len(frame.Pix); i += 4 {
			often[color.RGBA{frame.Pix[i], frame.Pix[i+1], frame.Pix[i+2], 255}]++
		}
	}
	most := slices.SortedFunc(maps.Keys(often), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(often[b], often[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range most[:min(256, len(most))] {
		palette = append(palette, c)
	}
	index := map[color.RGBA]uint8{}
	out := gif.GIF{Config: image.Config{ColorModel: palette, Width: f.frames[0].Rect.Dx(), Height: f.frames[0].Rect.Dy()}}
	before := image.NewRGBA(f.frames[0].Rect)
	for _, frame := range f.frames {
		where := changed(before, frame)
		if where.Empty() && len(out.Delay) > 0 {
			out.Delay[len(out.Delay)-1] += int(f.every.Milliseconds() / 10)
			continue
		}
		shown := image.NewPaletted(where, palette)
		for y := where.Min.Y; y < where.Max.Y; y++ {
			for x := where.Min.X; x < where.Max.X; x++ {
				c := frame.RGBAAt(x, y)
				n, known := index[c]
				if !known {
					n = uint8(palette.Index(c))
					index[c] = n
				}
				shown.SetColorIndex(x, y, n)
			}
		}
		out.Image, out.Delay = append(out.Image, shown), append(out.Delay, int(f.every.Milliseconds()/10))
		before = frame
	}
	out.Delay[len(out.Delay)-1] += 200
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &out); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// changed is the part of a picture that is not as in the one before.
func changed(a, b *image.RGBA) (where image.Rectangle) {
	for y := range b.Rect.Dy() {
		for x := range b.Rect.Dx() {
			if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
				where = where.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return where
}
