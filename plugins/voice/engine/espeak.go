package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/companiond/companiond/abi"
	"github.com/companiond/companiond/plugins/voice/sound"
)

// espeak is the program espeak-ng. It is started for each text.
type espeak struct{ language string }

const espeakProgram = "espeak-ng"

func (espeak) String() string { return espeakProgram }

func (espeak) Ready(context.Context) error {
	if _, err := exec.LookPath(espeakProgram); err != nil {
		return abi.Errorf(abi.CodeUnavailable, "espeak-ng is not installed: install the package espeak-ng")
	}
	return nil
}

func (e espeak) Speak(ctx context.Context, text string, v Voice) (s Speech, err error) {
	if err := e.Ready(ctx); err != nil {
		return s, err
	}
	timed, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	voice := string(v.Speaker)
	if voice == "" {
		voice = espeakVoice(languageOf(text, v, e.language))
	}
	program := exec.CommandContext(timed, espeakProgram, "-v", voice, "-s", strconv.Itoa(wordsPerMinute(v)), "-p", strconv.Itoa(pitch(v)), "-b", "1", "--stdin", "--stdout")
	program.WaitDelay = time.Second
	program.Stdin = strings.NewReader(text + "\n")
	said, complained := &limited{most: maxAnswer}, &limited{most: 1000}
	program.Stdout, program.Stderr = said, complained
	err = program.Run()
	switch {
	case ctx.Err() != nil:
		return s, abi.Wrap(abi.CodeTimeout, ctx.Err(), "nobody waits for it any more")
	case timed.Err() != nil:
		return s, abi.Errorf(abi.CodeTimeout, "espeak-ng took longer than %d s", Patience/time.Second)
	case strings.Contains(complained.String(), "voice does not exist"):
		return s, abi.Errorf(abi.CodeNotFound, "espeak-ng has no voice %.40q: espeak-ng --voices lists them", voice)
	case err != nil:
		return s, abi.Wrap(abi.CodeUnavailable, errors.Join(err, errors.New(complained.String())), "espeak-ng failed: try it by hand")
	}
	if s.Clip, err = sound.Read(said.Bytes()); err != nil {
		return s, abi.Errorf(abi.CodeInvalid, "espeak-ng gives no sound: %v", err)
	}
	return s, nil
}

// espeakVoice gives the voice for a language; most have its name.
func espeakVoice(language string) string {
	switch language {
	case "en":
		return "en-us"
	case "zh":
		return "cmn"
	}
	return language
}

// wordsPerMinute gives how fast it speaks; it takes 80 to 450.
func wordsPerMinute(v Voice) int { return int(max(80, min(450, 175*v.speed()))) }

// pitch gives how high it speaks; it takes 0 to 99.
func pitch(v Voice) int { return int(max(0, min(99, 50+50*v.Pitch))) }

// limited keeps what is written to it up to a bound.
type limited struct {
	bytes.Buffer
	most int
}

func (l *limited) Write(b []byte) (int, error) {
	if l.Len()+len(b) > l.most {
		return 0, io.ErrShortBuffer
	}
	return l.Buffer.Write(b)
}
