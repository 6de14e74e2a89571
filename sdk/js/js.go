// Package js has the types of what makers of JavaScript and TypeScript are asked and find, for their editors. The file is made of
// package abi, whose test writes it.
//
// It runs nothing.
package js

import _ "embed"

// Types is companion.d.ts.
//
//go:embed companion.d.ts
var Types []byte
