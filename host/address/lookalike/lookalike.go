// Package lookalike is Unicode's data on letters that a reader cannot tell apart
// (confusables.txt of UTS #39), in the classes that host/address compares names by. It
// holds the data, and compares nothing itself.
package lookalike

import "slices"

// Classes gives classes of letters and digits that look alike, in each the one that
// stands for the class first. A capital is listed where it looks like other letters than
// its small letter does; otherwise it goes with that.
func Classes() []string { return slices.Clone(classes) }
