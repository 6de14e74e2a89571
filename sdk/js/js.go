// Package js has what makers of JavaScript and TypeScript are given: the types of what they are asked and find, for their
// editors, which are made of package abi, whose test writes them; and the helpers that a character may import, which answer as
// those of package words and package talk do.
//
// It runs nothing.
package js

import _ "embed"

// Types is companion.d.ts.
//
//go:embed companion.d.ts
var Types []byte

// Helpers is companion.js, which the engine gives to who imports "companion".
//
//go:embed companion.js
var Helpers string
