package layout

import (
	"encoding/json"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/context/quote"
	"github.com/companiond/companiond/host/model"
)

// Documents is the tool, of a name, that reads the documents of the character's folder.
func (m *Mind) Documents(name string, all []abi.Document) model.Tool {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	schema := `{"type":"object","properties":{"name":{"enum":` + quote.JSON(names) + `},"from":{"type":"integer","minimum":0}},"required":["name"]}`
	return model.Tool{Name: name, Schema: json.RawMessage(schema), Description: m.Pick(
		"手元の資料を読みます。話に出たことが資料にありそうなときに使います。長い資料は一部だけが返り、next を from に入れると続きを読めます。",
		"Reads a document of yours. Use it where what is talked about may be in one. Of a long one you get a part; with its next as from you read on.")}
}
