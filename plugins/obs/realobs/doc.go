// Package realobs starts the OBS of Debian, at a screen of its own, for tests.
//
// OBS listens at all addresses of a machine: a test that starts it runs in a network namespace of its own. The program never uses
// the package, and what is in OBS is for the test to make.
package realobs
