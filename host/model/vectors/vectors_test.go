package vectors_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/companiond/companiond/host/model/vectors"
)

func TestRequest(t *testing.T) {
	if got := string(vectors.Request("nomic", []string{"猫", `a"b`})); got != `{"model":"nomic","input":["猫","a\"b"]}` {
		t.Error(got)
	}
}

func TestReadRefuses(t *testing.T) {
	for body, want := range map[string]string{
		`{"data":[{"embedding":[1]}]}`: "it has 1 vectors for 2 texts",
		`{"data":[]}`:                  "it has 0 vectors for 2 texts",
		`{}`:                           "it has 0 vectors for 2 texts",
		`[]`:                           "cannot unmarshal array",
		`{"data":[{"embedding":[1]},{"embedding":[1]},{"embedding":[1]}]}`:     "it has 3 vectors for 2 texts",
		`{"data":[{"embedding":[1,2]},{"embedding":[1]}]}`:                     "the vectors are of 2 and of 1 numbers",
		`{"data":[{"embedding":[1]},{"embedding":[]}]}`:                        "vector 1: it is empty",
		`{"data":[{"embedding":[1]},{}]}`:                                      "vector 1: it is empty",
		`{"data":[{"embedding":[1]},{"embedding":[null]}]}`:                    "vector 1: one of its numbers is null",
		`{"data":[{"embedding":[0,-0]},{"embedding":[1,1]}]}`:                  "vector 0: all its numbers are 0",
		`{"data":[{"embedding":[1e39]},{"embedding":[1]}]}`:                    "cannot unmarshal number 1e39",
		`{"data":[{"embedding":[NaN]},{"embedding":[1]}]}`:                     "invalid character 'N'",
		`{"data":[{"embedding":["1"]},{"embedding":[1]}]}`:                     "cannot unmarshal string",
		`{"data":[{"embedding":"AACAPw=="},{"embedding":"AACAPw=="}]}`:         "cannot unmarshal string",
		`{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}]}`:   "the index 1 is not one of 2 texts, or is there twice",
		`{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`:   "the index 2 is not one",
		`{"data":[{"index":0,"embedding":[1]},{"index":-1,"embedding":[1]}]}`:  "the index -1 is not one",
		`{"data":[{"index":0.5,"embedding":[1]},{"index":1,"embedding":[1]}]}`: "cannot unmarshal number 0.5",
		`{"data":[{"index":1,"embedding":[1]},{"embedding":[1]}]}`:             "the index 1 is not one",
	} {
		if a, err := vectors.Read([]byte(body), 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", body, a, err, want)
		}
	}
}

// Vectors come in the order of the texts, whatever order they were sent in.
func TestRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, long := rapid.IntRange(1, 64).Draw(t, "texts"), rapid.IntRange(1, 20).Draw(t, "numbers")
		want := make([][]float32, n)
		places := make([]int, n)
		for i := range want {
			places[i] = i
			want[i] = rapid.SliceOfN(rapid.Float32Range(-1, 1), long, long).Draw(t, "vector")
			want[i][0] = max(want[i][0], .01)
		}
		var data []string
		named := rapid.Bool().Draw(t, "named")
		if named {
			places = rapid.Permutation(places).Draw(t, "order")
		}
		for _, i := range places {
			raw, err := json.Marshal(want[i])
			if err != nil {
				t.Fatal(err)
			}
			index := fmt.Sprintf(`"index":%d,`, i)
			if !named {
				index = ""
			}
			data = append(data, `{"object":"embedding",`+index+`"embedding":`+string(raw)+`}`)
		}
		a, err := vectors.Read([]byte(`{"object":"list","data":[`+strings.Join(data, ",")+`],"usage":{"prompt_tokens":7,"total_tokens":7}}`), n)
		if err != nil || a.In != 7 || fmt.Sprint(a.Vectors) != fmt.Sprint(want) {
			t.Fatalf("%v, %+v, want %v", err, a, want)
		}
	})
}

// Whatever an endpoint says, what is let through can be compared.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":0,"embedding":[1,0.5]},{"index":1,"embedding":[1e-9,-2]}],"usage":{"total_tokens":-3}}`), 2)
	f.Add([]byte(`{"data":[{"embedding":[null]}]}`), 1)
	f.Fuzz(func(t *testing.T, raw []byte, n int) {
		if n < 0 || n > 100 {
			return
		}
		a, err := vectors.Read(raw, n)
		if err != nil {
			return
		}
		if len(a.Vectors) != n || a.In < 0 {
			t.Fatalf("%d of %d, %d tokens", len(a.Vectors), n, a.In)
		}
		for _, v := range a.Vectors {
			length := 0.0
			for _, x := range v {
				length += float64(x) * float64(x)
			}
			if len(v) != len(a.Vectors[0]) || !(length > 0) || math.IsInf(length, 0) {
				t.Fatalf("%v", v)
			}
		}
	})
}
