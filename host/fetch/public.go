package fetch

import "net/netip"

// special are the ranges of addresses that are not of the public internet, beside those that package netip
// knows: by the registries of special-purpose addresses (RFC 6890 and those that came after it).
var special = ranges(
	"0.0.0.0/8",       // this network
	"100.64.0.0/10",   // shared by the customers of a provider
	"192.0.0.0/24",    // protocols
	"192.0.2.0/24",    // documents
	"192.88.99.0/24",  // 6to4 relays
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documents
	"203.0.113.0/24",  // documents
	"240.0.0.0/4",     // reserved, and broadcast
	"::/96",           // IPv4 in IPv6, as it was
	"64:ff9b::/96",    // IPv4 in IPv6, translated
	"64:ff9b:1::/48",  // the same, of one's own
	"100::/64",        // discarded
	"2001::/23",       // protocols, Teredo among them
	"2001:db8::/32",   // documents
	"2002::/16",       // 6to4, with any IPv4 address in it
	"3fff::/20",       // documents
	"5f00::/16",       // segment routing
	"fec0::/10",       // site-local, as it was
)

func ranges(all ...string) (prefixes []netip.Prefix) {
	for _, s := range all {
		prefixes = append(prefixes, netip.MustParsePrefix(s))
	}
	return prefixes
}

// Public says whether an address is one of the public internet: whatever is asked there is nobody's in
// this network.
func Public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
