package main

import companion "github.com/companiond/companiond/sdk/go"

func main() {}

func family(companion.Scene) {}
