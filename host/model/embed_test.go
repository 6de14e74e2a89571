package model

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/host/logtest"
)

func withVectors(c *Config) { c.Embeddings = "nomic" }

// embeds answers each text with a vector of its length.
func embeds(t *testing.T, f **fake) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		got := (*f).requests()
		input, _ := got[len(got)-1].get("input").([]any)
		var data []string
		for i, text := range input {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, i, len(text.(string))))
		}
		slices.Reverse(data) // the order is the index's
		fmt.Fprintf(w, `{"object":"list","model":"nomic","data":[%s],"usage":{"prompt_tokens":%d,"total_tokens":%[2]d}}`, strings.Join(data, ","), 10*len(input))
	}
}

func numbered(n int) (texts []string) {
	for i := range n {
		texts = append(texts, strings.Repeat("a", i+1))
	}
	return texts
}

func TestEmbed(t *testing.T) {
	for n, requests := range map[int]int{0: 0, 1: 1, 64: 1, 65: 2, 200: 4} {
		var f *fake
		f = newFake(t, embeds(t, &f))
		client := f.client(OpenAI, func(c *Config) {
			withVectors(c)
			c.PriceIn, c.Key = 3, func() (string, error) { return secret, nil }
		})
		got, used, err := client.Embed(t.Context(), numbered(n))
		if err != nil || len(got) != n || used.In != 10*n || used.Calls != requests || math.Abs(used.Cost-30e-6*float64(n)) > 1e-9 {
			t.Fatalf("%d: %d vectors, %+v, %v", n, len(got), used, err)
		}
		for i, v := range got {
			if len(v) != 2 || v[0] != float32(i+1) {
				t.Fatalf("%d: vector %d is %v", n, i, v)
			}
		}
		for _, a := range f.requests() {
			if input, _ := a.get("input").([]any); a.path != "POST /v1/embeddings" || a.get("model") != "nomic" || len(input) > 64 || a.header.Get("Authorization") != "Bearer "+secret {
				t.Errorf("asked %s with %v: %s", a.path, a.header, a.raw)
			}
		}
	}
}

func TestEmbedIsNotConfigured(t *testing.T) {
	f := newFake(t, says("x"))
	_, used, err := f.client(OpenAI, nil).Embed(t.Context(), []string{"a"})
	var coded *abi.Error
	if !errors.Is(err, ErrNoEmbeddings) || !errors.As(err, &coded) || coded.Code != abi.CodeUnavailable || coded.Retry || !strings.Contains(coded.Message, "set embeddings in [model.main]") || used != (Usage{}) {
		t.Errorf("%v, %+v", err, used)
	}
	if len(f.requests()) != 0 {
		t.Error("it was asked")
	}
}

// An answer that cannot be used is an error, and no vector of it is given.
func TestEmbedNonsense(t *testing.T) {
	whole := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
	}
	for want, c := range map[string]struct {
		answer http.HandlerFunc
		code   abi.Code
		calls  int
	}{
		"1 vectors for 2 texts":             {whole(`{"data":[{"embedding":[1]}]}`), abi.CodeInvalid, 1},
		"of 2 and of 1 numbers":             {whole(`{"data":[{"embedding":[1,2]},{"embedding":[1]}]}`), abi.CodeInvalid, 1},
		"invalid character 'N'":             {whole(`{"data":[{"embedding":[NaN]},{"embedding":[1]}]}`), abi.CodeInvalid, 1},
		"one of its numbers is null":        {whole(`{"data":[{"embedding":[null]},{"embedding":[1]}]}`), abi.CodeInvalid, 1},
		"none of this API":                  {whole(`<html>`), abi.CodeInvalid, 1},
		"rate limited":                      {status(429, `{"error":{"message":"slow down"}}`), abi.CodeUnavailable, 3},
		"failed (503)":                      {status(503, "no"), abi.CodeUnavailable, 3},
		"the endpoint failed (502): broken": {whole(`{"error":{"message":"broken"}}`), abi.CodeUnavailable, 3},
		"refuses the request (400)":         {status(400, "no such model"), abi.CodeInvalid, 1},
		"does not know the model":           {status(404, `{"error":"model \"nomic\" not found"}`), abi.CodeInvalid, 1},
		"refuses the key (401)":             {status(401, `{"error":"`+secret+` is wrong"}`), abi.CodeDenied, 1},
		"larger than 16 MiB":                {whole(`{"data":"` + strings.Repeat("x", 17<<20)), abi.CodeTooLarge, 1},
		"closed the connection":             {whole(""), abi.CodeUnavailable, 3},
	} {
		told := new(logtest.Log)
		f := newFake(t, c.answer)
		client := f.client(OpenAI, func(cfg *Config) {
			withVectors(cfg)
			cfg.Log, cfg.Key = told.Logger(), func() (string, error) { return secret, nil }
		})
		got, used, err := client.Embed(t.Context(), []string{"a", "b"})
		wantErr(t, err, c.code, want)
		if got != nil || used.Calls != c.calls || len(f.requests()) != c.calls || strings.Contains(err.Error()+told.String(), secret) {
			t.Errorf("%s: %v, %+v, %v, told %s", want, got, used, err, told.String())
		}
	}
	f := newFake(t, says("x"))
	_, _, err := f.client(OpenAI, withVectors).Embed(t.Context(), []string{"a", " \n"})
	if wantErr(t, err, abi.CodeInvalid, "texts[1]: says nothing"); len(f.requests()) != 0 {
		t.Error("it was asked")
	}
}

// Vectors of one call are of one length, also where they were asked for apart.
func TestEmbedBatchesGoTogether(t *testing.T) {
	answer := func(long int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			one := `{"embedding":[1` + strings.Repeat(",1", long-1) + `]}`
			n := 64
			if long == 3 {
				n = 1
			}
			fmt.Fprint(w, `{"data":[`+strings.Repeat(one+",", n-1)+one+`]}`)
		}
	}
	f := newFake(t, answer(2), answer(3))
	got, _, err := f.client(OpenAI, withVectors).Embed(t.Context(), numbered(65))
	if wantErr(t, err, abi.CodeInvalid, "of 2 and of 3 numbers"); got != nil {
		t.Errorf("%v", got)
	}
}

// It is asked again where that may help, and what the endpoint does not say of tokens is guessed.
func TestEmbedAgain(t *testing.T) {
	f := newFake(t, status(429, "slow"), hangUp(), func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"embedding":[1,2]}]}`)
	})
	got, used, err := f.client(OpenAI, withVectors).Embed(t.Context(), []string{"hello"})
	if err != nil || len(got) != 1 || used != (Usage{In: 1, Calls: 3, Estimated: true}) {
		t.Errorf("%v, %+v, %v", got, used, err)
	}
}

// What an endpoint asks to wait is waited, and each batch has the deadline.
func TestEmbedTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		asked := 0
		trip := tripper(func(r *http.Request) (*http.Response, error) {
			if asked++; asked == 1 {
				return respond(r, 429, strings.NewReader("slow"), "Retry-After", "20"), nil
			}
			return respond(r, 200, strings.NewReader(`{"data":[{"embedding":[1]}]}`)), nil
		})
		if _, _, err := bubbleClient(t, trip, withVectors).Embed(context.Background(), []string{"a"}); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begun); waited < 20*time.Second || waited > 22*time.Second {
			t.Errorf("waited %v", waited)
		}
		silent := tripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		begun = time.Now()
		_, _, err := bubbleClient(t, silent, withVectors).Embed(context.Background(), []string{"a"})
		if wantErr(t, err, abi.CodeTimeout, "in time"); time.Since(begun) != time.Minute {
			t.Errorf("after %v", time.Since(begun))
		}
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		if _, _, err := bubbleClient(t, silent, withVectors).Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// Vectors take one of the places at the model.
func TestEmbedWaitsForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now, most := 0, 0
		trip := tripper(func(r *http.Request) (*http.Response, error) {
			now++
			most = max(most, now)
			time.Sleep(time.Second)
			now--
			return respond(r, 200, strings.NewReader(`{"data":[{"embedding":[1]}]}`)), nil
		})
		client := bubbleClient(t, trip, func(c *Config) { withVectors(c); c.Parallel = 1 })
		done := make(chan error, 3)
		for range 3 {
			go func() {
				_, _, err := client.Embed(context.Background(), []string{"a"})
				done <- err
			}()
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if most != 1 {
			t.Errorf("%d at once", most)
		}
	})
}

// A fake of the APIs that others wrote makes vectors as well.
func TestAimockEmbeds(t *testing.T) {
	client := New(Config{Name: "main", API: OpenAI, URL: aimock(t), Model: "tiny", Embeddings: "nomic", Timeout: time.Minute, Parallel: 1, Log: slog.New(slog.DiscardHandler)})
	got, used, err := client.Embed(t.Context(), []string{"猫が好き", "猫が好き"})
	if err != nil || len(got) != 2 || !slices.Equal(got[0], []float32{.25, -.5, .125}) || len(got[1]) != 3 || used.Calls != 1 {
		t.Errorf("%v, %+v, %v", got, used, err)
	}
}
