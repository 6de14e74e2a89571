// Package systemd has the files of its folder in it, which make companiond a service of systemd, for whoever installs it
// without the package for Debian.
//
// It neither installs nor changes them.
package systemd

import _ "embed"

var (
	//go:embed companiond.service
	service string
	//go:embed sysusers.conf
	sysusers string
	//go:embed tmpfiles.conf
	tmpfiles string
)

// Service is the unit, of a companiond at /usr/bin/companiond.
func Service() string { return service }

// Sysusers says, for sysusers.d, which user the service is.
func Sysusers() string { return sysusers }

// Tmpfiles says, for tmpfiles.d, which folders it has.
func Tmpfiles() string { return tmpfiles }
