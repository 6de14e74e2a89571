package osc_test

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/plugins/vmc/osc"
	"github.com/companiond/companiond/plugins/vmc/osctest"
)

// The bytes that the specification asks for, by hand.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		m    osc.Message
		want string
	}{
		{osc.Message{Address: "/a"}, "2f610000" + "2c000000"},
		{osc.Message{Address: "/abc"}, "2f61626300000000" + "2c000000"},
		{osc.Message{Address: "/abcdefg", Args: []any{int32(-2), float32(0.5)}}, "2f616263646566670000" + "0000" + "2c696600" + "fffffffe" + "3f000000"},
		{osc.Message{Address: "/VMC/Ext/Blend/Val", Args: []any{"Joy", float32(1)}},
			"2f564d432f4578742f426c656e642f56616c0000" + "2c736600" + "4a6f7900" + "3f800000"},
		{osc.Message{Address: "/s", Args: []any{"", "abcd"}}, "2f730000" + "2c737300" + "00000000" + "6162636400000000"},
	} {
		got, err := c.m.Append(nil)
		if err != nil || hex.EncodeToString(got) != c.want {
			t.Errorf("%v: %x, %v; want %s", c.m, got, err, c.want)
		}
	}
	got, err := osc.Bundle(osc.Message{Address: "/a"}, osc.Message{Address: "/b", Args: []any{int32(7)}})
	want := "2362756e646c6500" + "0000000000000001" + "00000008" + "2f6100002c000000" + "0000000c" + "2f6200002c69000000000007"
	if err != nil || hex.EncodeToString(got) != want {
		t.Errorf("%x, %v; want %s", got, err, want)
	}
	if got, err := osc.Bundle(); err != nil || len(got) != 16 {
		t.Errorf("an empty one: %x, %v", got, err)
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	for want, m := range map[string]osc.Message{
		"does not begin with /":         {Address: "a"},
		`the address ""`:                {},
		`the text "/a\x00b"`:            {Address: "/a\x00b"},
		`the text "x\x00"`:              {Address: "/a", Args: []any{"x\x00"}},
		"there is no type for a int":    {Address: "/a", Args: []any{1}},
		"there is no type for a <nil>":  {Address: "/a", Args: []any{nil}},
		"there is no type for a float6": {Address: "/a", Args: []any{1.0}},
	} {
		before := []byte("before")
		if b, err := m.Append(before); err == nil || !strings.Contains(err.Error(), want) || string(b) != "before" {
			t.Errorf("%v: %q, %v", m, b, err)
		}
		if b, err := osc.Bundle(osc.Message{Address: "/a"}, m); err == nil || b != nil {
			t.Errorf("%v: %q, %v", m, b, err)
		}
	}
}

// All that can be written is read again by a reader that was written from the specification.
func TestReadAgain(t *testing.T) {
	text := rapid.StringMatching(`[^\x00]{0,20}`)
	arg := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Int32(), func(i int32) any { return i }),
		rapid.Map(rapid.Float32(), func(f float32) any { return f }),
	)
	rapid.Check(t, func(t *rapid.T) {
		var all []osc.Message
		for range rapid.IntRange(0, 8).Draw(t, "messages") {
			all = append(all, osc.Message{Address: "/" + text.Draw(t, "address"), Args: rapid.SliceOfN(arg, 0, 6).Draw(t, "args")})
		}
		b, err := osc.Bundle(all...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := osctest.Read(b)
		if err != nil || len(got) != len(all) {
			t.Fatalf("%v, %v", got, err)
		}
		for i := range got {
			if got[i].Address != all[i].Address || len(got[i].Args)+len(all[i].Args) > 0 && !reflect.DeepEqual(got[i].Args, all[i].Args) {
				t.Fatalf("%v, want %v", got[i], all[i])
			}
		}
	})
}

// FuzzReadAgain: whatever the reader takes, the writer writes in the same bytes.
func FuzzReadAgain(f *testing.F) {
	for _, m := range []osc.Message{{Address: "/a"}, {Address: "/VMC/Ext/Blend/Val", Args: []any{"A", float32(0.5)}}, {Address: "/b", Args: []any{int32(1), "x"}}} {
		b, err := osc.Bundle(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := osctest.Read(b)
		if err != nil {
			return
		}
		again, err := osc.Bundle(all...)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%x, %v; was %x", again, err, b)
		}
	})
}
