package wasm

import (
	"fmt"
	"testing"

	"github.com/companiond/companiond/host/module/folder/foldertest"
)

func TestReloadsUnderLoad(t *testing.T) {
	foldertest.Reloads(t, newTestEngine(t, nil), "tiny.wasm", func(n int) []byte {
		return tiny{reply: fmt.Sprintf(`{"ok":{"state":"listen","importance":1,"reason":"%d"}}`, n)}.build()
	})
}
