// Package child starts other programs for the daemon and sees to it that they end: with
// the context of their caller, with the daemon itself however it ends, and at bounds on
// memory, CPU time, wall time and output. A child ends together with the processes that
// it started, where the system has process groups.
//
// There are two sides to it. The daemon uses [Command]. A program that knows of it, such
// as the compiler of WebAssembly, calls [Obey] before anything else: it bounds itself,
// for the system can bound it from outside on some platforms only. Any other program, such as
// an agent's, is [Command.Plain].
//
// The package starts no shell, passes nothing of the daemon's own environment on, and
// restarts nobody.
package child
