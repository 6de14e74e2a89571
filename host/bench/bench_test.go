package bench

import (
	"os"
	"testing"
)

func TestPrint(t *testing.T) {
	r, err := Run(t.Context(), Options{Seed: "x", Talks: 10, Rules: Rules(), Speech: Speech})
	if err != nil {
		t.Fatal(err)
	}
	r.Write(os.Stdout)
}
