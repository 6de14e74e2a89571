package config

import "testing"

// TestMemoryOf: what stands under a companion goes before what stands for all, key by key.
func TestMemoryOf(t *testing.T) {
	c := good(t, "[memory]\nscope = \"person\"\nby = \"rules\"\n[companion.aya]\nmemory = \"off\"\n[companion.ben]\nmemory_by = \"model\"\n[companion.kyoko]\n")
	for who, want := range map[string]Memory{
		"aya": {MemoryOff, MemoryRules}, "ben": {"person", MemoryModel}, "kyoko": {"person", MemoryRules}, "natsumi": {"person", MemoryRules},
	} {
		if got := c.MemoryOf(who); got != want {
			t.Errorf("%s: %+v", who, got)
		}
	}
	if got := good(t, "").MemoryOf("aya"); got != (Memory{"room", MemoryAuto}) {
		t.Errorf("by default: %+v", got)
	}
}
