package engine

import (
	"context"
	"net"
	"net/http"
)

// Through has an engine reach its server by connections that a test makes.
func Through(e Engine, dial func() net.Conn) Engine {
	e.(openAI).client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) { return dial(), nil }
	return e
}

// Mouth is how a query is read.
var Mouth = mouth
