package entry

// Usage is the body of KindUsage. Tokens as the model's server counts them.
type Usage struct {
	Who       string  `json:"who"`
	Model     string  `json:"model"` // the name of its settings
	Op        string  `json:"op"`    // for which op of the companion
	In        int     `json:"in"`
	Out       int     `json:"out"`
	Cached    int     `json:"cached,omitempty"`
	Calls     int     `json:"calls"`               // requests, repeated ones included
	Estimated bool    `json:"estimated,omitempty"` // the server did not say
	Cost      float64 `json:"cost,omitempty"`      // by the prices of its settings
	Error     string  `json:"error,omitempty"`
	// About is the seq of what was judged or answered, and Grant the token of the line.
	About uint64 `json:"about,omitempty"`
	Grant string `json:"grant,omitempty"`
	Told  *Told  `json:"told,omitempty"`
	// With are the others for whom the same call was: the votes of several characters.
	With []string `json:"with,omitempty"`
}

// Told is what a model was told, so that it can be put together again: the house's own
// words are kept once by their hash, and what was said is in the room.
type Told struct {
	SHA256 string `json:"sha256"`           // of all of it, as host/context/layout writes it out
	System string `json:"system"`           // hash of the system prompt
	Tools  string `json:"tools,omitempty"`  // hash of what it might call
	Head   uint64 `json:"head"`             // seq of the newest entry that was known
	From   uint64 `json:"from,omitempty"`   // seq of the oldest message that was told; 0: none
	Upto   uint64 `json:"upto,omitempty"`   // and of the newest
	Pinned uint64 `json:"pinned,omitempty"` // an older turn of a person that was told before them
	// Shortened are messages of which the middle was left out, with how many bytes stayed of
	// the beginning and of the end.
	Shortened map[uint64][2]int `json:"shortened,omitempty"`
	Names     map[string]string `json:"names,omitempty"` // of speakers, where they are not their ids
	Left      bool              `json:"left,omitempty"`  // there were older messages
	Tail      string            `json:"tail,omitempty"`  // what stood behind the history
	// More is what followed in the same answer: what the model played, and what it was told
	// became of that.
	More     string   `json:"more,omitempty"`
	Images   int      `json:"images,omitempty"`
	Memories []string `json:"memories,omitempty"` // ids, best first
	Budget   int      `json:"budget"`             // tokens that it might come to
	// History is how many of those what was said may come to, 0 where that is not known, or was less for this request alone.
	History int            `json:"history,omitempty"`
	Parts   map[string]int `json:"parts"`           // tokens, as they were guessed, by part
	Notes   []string       `json:"notes,omitempty"` // what else was left out, and why
}

// Words is the body of KindWords: what the house itself tells models, once for all requests. The id of the entry is
// their SHA-256.
type Words struct {
	Text string `json:"text"`
}
