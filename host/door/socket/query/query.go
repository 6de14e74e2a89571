// Package query reads what a client of the sockets asks for in the address that it connects to.
//
// It knows no room and no connection, and never reads a token.
package query

import (
	"net/url"
	"strconv"

	"github.com/companiond/companiond/abi"
)

// Flag reads a parameter that is 1 or 0, usual where it is not there.
//
// # Errors
//
// CodeInvalid names the parameter, where it is neither.
func Flag(q url.Values, name string, usual bool) (bool, error) {
	if !q.Has(name) {
		return usual, nil
	}
	on, err := strconv.ParseBool(q.Get(name))
	if err != nil {
		return false, abi.Field("query."+name, abi.CodeInvalid, "%.64q is neither 1 nor 0", q.Get(name))
	}
	return on, nil
}
