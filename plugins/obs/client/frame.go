package client

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// The ops of frames that a client without events needs.
const (
	opHello      = 0
	opIdentify   = 1
	opIdentified = 2
	opRequest    = 6
	opResponse   = 7
)

// rpcVersion is the version of the protocol that is spoken here.
const rpcVersion = 1

// frame is a message of the protocol, either way.
type frame struct {
	Op int             `json:"op"`
	D  json.RawMessage `json:"d"`
}

// hello is the first that OBS says.
type hello struct {
	Version        string     `json:"obsWebSocketVersion"`
	RPC            int        `json:"rpcVersion"`
	Authentication *challenge `json:"authentication"`
}

// challenge is there where OBS wants a password.
type challenge struct {
	Challenge string `json:"challenge"`
	Salt      string `json:"salt"`
}

// identify answers a hello. No events are subscribed to.
type identify struct {
	RPC            int    `json:"rpcVersion"`
	Authentication string `json:"authentication,omitempty"`
	Events         int    `json:"eventSubscriptions"`
}

type request struct {
	Type string `json:"requestType"`
	ID   string `json:"requestId"`
	Data any    `json:"requestData,omitempty"`
}

type response struct {
	Type   string          `json:"requestType"`
	ID     string          `json:"requestId"`
	Status status          `json:"requestStatus"`
	Data   json.RawMessage `json:"responseData"`
}

type status struct {
	Result  bool   `json:"result"`
	Code    int    `json:"code"`
	Comment string `json:"comment"`
}

// proof is how OBS is shown that the password is known, without saying it.
func proof(password string, c challenge) string {
	return hash(hash(password+c.Salt) + c.Challenge)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// encode writes a frame.
func encode(op int, d any) ([]byte, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return json.Marshal(frame{op, data})
}

// decode reads a frame with a certain op into d.
func decode(text []byte, op int, d any) error {
	var f frame
	if err := json.Unmarshal(text, &f); err != nil {
		return fmt.Errorf("a frame that is no JSON: %w", err)
	}
	if f.Op != op {
		return fmt.Errorf("a frame with op %d where %d was expected", f.Op, op)
	}
	if err := json.Unmarshal(f.D, d); err != nil {
		return fmt.Errorf("a frame with op %d whose data cannot be read: %w", op, err)
	}
	return nil
}

// decodeResponse reads a frame that came after the greeting; ok is false for one that is no response, such as an event.
func decodeResponse(text []byte) (r response, ok bool, err error) {
	var f frame
	if err := json.Unmarshal(text, &f); err != nil {
		return r, false, fmt.Errorf("a frame that is no JSON: %w", err)
	}
	if f.Op != opResponse {
		return r, false, nil
	}
	if err := json.Unmarshal(f.D, &r); err != nil {
		return r, false, fmt.Errorf("a response that cannot be read: %w", err)
	}
	return r, true, nil
}
