package fuel

import (
	"cmp"
	"slices"
)

// maxGap is how many zeros stand between two data segments that become one: fewer bytes
// than a segment of its own takes in the runtime.
const maxGap = 64

// segment is bytes that a module's memory has at the start.
type segment struct {
	at   uint32
	data []byte
}

func (s segment) end() uint64 { return uint64(s.at) + uint64(len(s.data)) }

// MergeData makes one of data segments that lie side by side in a memory of the module's
// own: the Go compiler leaves every longer run of zeros out, which makes 44,000 of 1.2 MB,
// and the runtime takes 100 bytes and more for each. A module is copied only if need be. One whose
// segments have other forms, or can be used by their numbers, stays as it is.
func MergeData(module []byte) ([]byte, error) {
	sections, err := split(module)
	if err != nil {
		return nil, err
	}
	r := sections[sectionData]
	if r == nil || sections[sectionMemory] == nil || sections[sectionDataCount] != nil {
		return module, nil
	}
	all := readSegments(r)
	merged := merge(all)
	if len(merged) == len(all) {
		return module, nil
	}
	section := appendU32(nil, uint32(len(merged)))
	for _, s := range merged {
		section = append(section, 0, opI32Const)
		section = append(appendS32(section, int32(s.at)), opEnd)
		section = appendBytes(section, s.data)
	}
	return withSection(module, r, sectionData, section), nil
}

// readSegments gives the segments if all of them are for the first memory, at a place that
// is a number; nil if not, or the section is broken, which the compiler finds.
func readSegments(r *reader) (all []segment) {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		if r.u32() != 0 || r.byte() != opI32Const {
			return nil
		}
		at := uint32(r.signed(32))
		if r.byte() != opEnd {
			return nil
		}
		all = append(all, segment{at, r.take(r.u32())})
	}
	if r.close() != nil {
		return nil
	}
	return all
}

// merge gives fewer segments that make the same memory, in the order of their places; all
// of them as they are where one lies over another, for then the last one counts.
func merge(all []segment) (merged []segment) {
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b segment) int { return cmp.Compare(a.at, b.at) })
	var top uint64
	for _, s := range sorted {
		if uint64(s.at) < top {
			return all
		}
		gap := uint64(s.at) - top
		top = s.end()
		if n := len(merged); n > 0 && gap <= maxGap {
			last := &merged[n-1]
			last.data = append(append(last.data, make([]byte, gap)...), s.data...)
			continue
		}
		s.data = slices.Clip(s.data) // so that what is added does not go into the module
		merged = append(merged, s)
	}
	return merged
}
