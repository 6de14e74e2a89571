package studiotest

import (
	"slices"
	"testing"
	"time"
)

// Look runs do while nothing happens.
func (s *Studio) Look(do func(*State)) { s.with(func() { do(&s.state) }) }

// Until waits until something is so, and ends the test where it is not within ten minutes.
func (s *Studio) Until(t testing.TB, what string, so func(*State) bool) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	late := false
	defer time.AfterFunc(10*time.Minute, func() { s.with(func() { late = true }) }).Stop()
	for !so(&s.state) {
		if late {
			kinds := []string{}
			for _, a := range s.state.Asked {
				kinds = append(kinds, a.Kind)
			}
			t.Fatalf("not within ten minutes: %s; asked was %v", what, slices.Compact(kinds))
		}
		s.turned.Wait()
	}
}

// Answer says how a person will answer who is asked.
func (s *Studio) Answer(a Answer) { s.with(func() { s.answer = a }) }

// Decide answers for the person who was asked, with Answer Later.
func (s *Studio) Decide(allow bool) {
	var was *asking
	var data any
	err := refuse(50, "User has denied API access for your plugin.")
	s.with(func() {
		if was, s.pending = s.pending, nil; was != nil && allow {
			data, err = s.grant(was.name), nil
		}
	})
	if was != nil {
		was.s.answer(envelope{RequestID: was.id, MessageType: "AuthenticationTokenRequest"}, data, err)
	}
}

// Revoke takes the permission back from all plugins: their sessions are none, and what they made is gone.
func (s *Studio) Revoke() {
	s.with(func() {
		clear(s.tokens)
		for x := range s.sits {
			x.plugin = ""
		}
		for id, p := range s.params {
			if p.by != "" {
				delete(s.params, id)
			}
		}
		s.count()
	})
}

// Load loads a model, nil for none, and tells of it.
func (s *Studio) Load(m *Model) {
	var data any
	s.with(func() {
		s.model = m
		clear(s.state.Active)
		data = s.loaded()
	})
	s.tell("ModelLoadedEvent", data)
}

// Change changes what the model has, and tells of it.
func (s *Studio) Change(change func(m *Model)) {
	var data map[string]any
	s.with(func() {
		change(s.model)
		data = map[string]any{"modelID": s.model.ID, "modelName": s.model.Name, "hotkeyConfigChanged": true}
	})
	s.tell("ModelConfigChangedEvent", data)
}

// Click clicks the model, at what lies there, the topmost first, or beside it where nothing does.
func (s *Studio) Click(button int, meshes ...string) {
	hits := []any{}
	for i, m := range meshes {
		hits = append(hits, map[string]any{
			"artMeshOrder": i, "isMasked": false,
			"hitInfo": map[string]any{"modelID": "m", "artMeshID": m, "angle": 0, "size": 1, "vertexID1": 1, "vertexID2": 2, "vertexID3": 3, "vertexWeight1": 0.5, "vertexWeight2": 0.3, "vertexWeight3": 0.2},
		})
	}
	s.tell("ModelClickedEvent", map[string]any{
		"modelLoaded": true, "loadedModelID": "m", "loadedModelName": "M", "modelWasClicked": len(meshes) > 0, "mouseButtonID": button,
		"clickPosition": map[string]any{"x": -0.25, "y": 0.5}, "windowSize": map[string]any{"x": 1280, "y": 720},
		"clickedArtMeshCount": len(meshes), "artMeshHits": hits,
	})
}

// Forget deletes a parameter, as a person does.
func (s *Studio) Forget(id string) { s.with(func() { delete(s.params, id) }) }

// Value gives what a parameter is now.
func (s *Studio) Value(id string) (v float64) {
	s.with(func() {
		if p := s.params[id]; p != nil {
			v = p.now()
		}
	})
	return v
}

// Drop ends all connections.
func (s *Studio) Drop() {
	s.with(func() {
		for x := range s.sits {
			_ = x.ws.Close()
		}
	})
}

// Gone has it refuse connections, as where it is not started, or take them again.
func (s *Studio) Gone(gone bool) { s.with(func() { s.gone = gone }) }

// Dials says how often somebody tried to connect.
func (s *Studio) Dials() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dials
}

// Mute has it take requests and answer none, as one that hangs.
func (s *Studio) Mute(mute bool) { s.with(func() { s.mute = mute }) }

func (s *Studio) muted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mute
}

// tell sends an event to those who want it.
func (s *Studio) tell(event string, data any) {
	var all []*session
	s.with(func() {
		for x := range s.sits {
			if x.events[event] && x.plugin != "" {
				all = append(all, x)
			}
		}
	})
	for _, x := range all {
		x.write(event, "", data)
	}
}
