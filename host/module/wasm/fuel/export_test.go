package fuel

import "fmt"

// Bounds gives the bounds of a file by what they bound.
func Bounds() map[string]string {
	all := map[string]string{
		"bytes of one function":                   fmt.Sprint(maxFunctionBytes),
		"locals of one function, of all together": fmt.Sprintf("%d, %d", maxFunctionLocals, maxAllLocals),
		"tables, entries of all together":         fmt.Sprintf("%d, %d", maxTables, maxTableEntries),
		"bytes that fill tables":                  fmt.Sprint(maxElementBytes),
	}
	for _, c := range counted {
		all[c.what] = fmt.Sprint(c.most)
		if c.bytes > 0 {
			all[c.what+", their bytes"] = fmt.Sprintf("%d, %d", c.most, c.bytes)
			delete(all, c.what)
		}
	}
	return all
}
