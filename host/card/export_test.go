package card

import "slices"

// Keys gives the keys that Parse knows in a part of a card.
func Keys(part string) []string {
	return slices.Clone(map[string][]string{"card": cardKeys, "metadata": metadataKeys, "perception": perceptionKeys, "event": eventKeys}[part])
}
