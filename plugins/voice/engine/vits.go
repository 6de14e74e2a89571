package engine

import (
	"context"
	"net/url"
	"strconv"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/reading"
	"github.com/companiond/companiond/plugins/voice/sound"
)

// mostLetters is how long a text may be for Style-Bert-VITS2, as it is set up.
const mostLetters = 100

// vits is Style-Bert-VITS2.
type vits struct {
	*web
	language string
}

func newVits(w *web, c Config) Engine { return vits{w, c.Language} }

func (e vits) Ready(ctx context.Context) error {
	_, err := e.ask(ctx, "GET", "/models/info", nil, nil)
	return err
}

// Speak has a text said piece by piece where it is too long for one.
func (e vits) Speak(ctx context.Context, text string, v Voice) (s Speech, err error) {
	query := e.query(text, v)
	var clips []sound.Clip
	for _, piece := range reading.Pieces(text, mostLetters) {
		query.Set("text", piece)
		got, err := e.ask(ctx, "POST", "/voice", query, nil)
		if err != nil {
			return s, err
		}
		clip, err := sound.Read(got.body)
		if err != nil {
			return s, abi.Errorf(abi.CodeInvalid, "%s answers with no sound: %v", e, err)
		}
		clips = append(clips, clip)
	}
	s.Clip = sound.Join(clips...)
	return s, nil
}

// query gives all but the text.
func (e vits) query(text string, v Voice) url.Values {
	q := url.Values{"language": {vitsLanguage(languageOf(text, v, e.language))}}
	named := func(n Name, id, name string) {
		if _, ok := n.number(); ok {
			q.Set(id, string(n))
		} else if n != "" {
			q.Set(name, string(n))
		}
	}
	named(v.Model, "model_id", "model_name")
	named(v.Speaker, "speaker_id", "speaker_name")
	if v.Style != "" {
		q.Set("style", v.Style)
	}
	if v.StyleWeight != nil {
		q.Set("style_weight", decimal(*v.StyleWeight))
	}
	if v.Speed > 0 {
		q.Set("length", decimal(1/v.Speed))
	}
	return q
}

// vitsLanguage gives one of the three that it speaks.
func vitsLanguage(language string) string {
	switch language {
	case "en":
		return "EN"
	case "zh":
		return "ZH"
	}
	return "JP"
}

// languageOf gives the language that a text is read in: the voice's, the handler's, or that which it looks like.
func languageOf(text string, v Voice, usual string) string {
	switch {
	case v.Language != "":
		return v.Language
	case usual != "":
		return usual
	}
	return reading.Language(text)
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
