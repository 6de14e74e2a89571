// Package vectors writes what an OpenAI-compatible API is asked to embed, and reads the vectors of its answer.
//
// It sends nothing, keeps nothing and compares no vectors. What it reads is checked: as many as were asked
// for, all as long, every number one, and none of them without a direction.
package vectors

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Batch is how many texts are asked for at once: small servers take no more.
const Batch = 64

// Request writes the request for some texts.
func Request(model string, texts []string) []byte {
	raw, _ := json.Marshal(struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{model, texts}) // strings can always be marshalled
	return raw
}

// Answer is what an endpoint answered.
type Answer struct {
	Vectors [][]float32 // in the order of the texts
	In      int         // tokens; 0: the endpoint did not say
}

// numbers are a vector. A null in it is no 0.
type numbers []*float32

// Read reads the answer to a request for n texts.
func Read(raw []byte, n int) (Answer, error) {
	var shape struct {
		Data []struct {
			Index     *int
			Embedding numbers
		}
		Usage struct {
			In    int `json:"prompt_tokens"`
			Total int `json:"total_tokens"`
		}
	}
	if err := json.Unmarshal(raw, &shape); err != nil {
		return Answer{}, err
	}
	if len(shape.Data) != n {
		return Answer{}, fmt.Errorf("it has %d vectors for %d texts", len(shape.Data), n)
	}
	a := Answer{Vectors: make([][]float32, n), In: max(0, shape.Usage.In, shape.Usage.Total)}
	for place, d := range shape.Data {
		if d.Index != nil {
			place = *d.Index
		}
		if place < 0 || place >= n || a.Vectors[place] != nil {
			return Answer{}, fmt.Errorf("the index %d is not one of %d texts, or is there twice", place, n)
		}
		v, err := d.Embedding.vector()
		if err != nil {
			return Answer{}, fmt.Errorf("vector %d: %w", place, err)
		}
		a.Vectors[place] = v
	}
	return a, Alike(a.Vectors)
}

// Alike says whether vectors are of one length.
func Alike(all [][]float32) error {
	for _, v := range all {
		if len(v) != len(all[0]) {
			return fmt.Errorf("the vectors are of %d and of %d numbers", len(all[0]), len(v))
		}
	}
	return nil
}

func (from numbers) vector() ([]float32, error) {
	if len(from) == 0 {
		return nil, errors.New("it is empty")
	}
	v, points := make([]float32, len(from)), false
	for i, x := range from {
		if x == nil {
			return nil, errors.New("one of its numbers is null")
		}
		v[i], points = *x, points || *x != 0
	}
	if !points {
		return nil, errors.New("all its numbers are 0")
	}
	return v, nil
}
