package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestVerbs runs the sessions in testdata.
func TestVerbs(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata"})
}
