package chromium

import "testing"

// A page that is left while it is asked is no fault of the test: whoever waits for the next page asks again.
func TestLeft(t *testing.T) {
	b := Open(t, "data:text/html,<p>one", "")
	b.Until("the page", `document.body?.textContent === "one"`)
	if got := b.Eval(`location.href = "about:blank"; new Promise(() => {})`); got != left {
		t.Errorf("an expression whose page was left: %q", got)
	}
	b.Until("the next page", `location.href === "about:blank"`)
}
