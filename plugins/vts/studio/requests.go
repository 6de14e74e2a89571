package studio

// Names of requests.
const (
	TokenRequest       = "AuthenticationTokenRequest"
	SessionRequest     = "AuthenticationRequest"
	HotkeysRequest     = "HotkeysInCurrentModelRequest"
	HotkeyRequest      = "HotkeyTriggerRequest"
	ExpressionsRequest = "ExpressionStateRequest"
	ExpressionRequest  = "ExpressionActivationRequest"
	MoveRequest        = "MoveModelRequest"
	ParametersRequest  = "InputParameterListRequest"
	CreateRequest      = "ParameterCreationRequest"
	InjectRequest      = "InjectParameterDataRequest"
	SubscribeRequest   = "EventSubscriptionRequest"
)

// Names of events.
const (
	ModelLoaded  = "ModelLoadedEvent"
	ModelChanged = "ModelConfigChangedEvent"
	ModelClicked = "ModelClickedEvent"
)

// Plugin is the data of a TokenRequest, and with a token that of a SessionRequest.
type Plugin struct {
	Name      string `json:"pluginName"`      // 3 to 32 characters
	Developer string `json:"pluginDeveloper"` // likewise
	Token     string `json:"authenticationToken,omitempty"`
}

// Token answers a TokenRequest.
type Token struct {
	Token string `json:"authenticationToken"`
}

// Session answers a SessionRequest.
type Session struct {
	Authenticated bool   `json:"authenticated"`
	Reason        string `json:"reason"`
}

// Hotkeys answers a HotkeysRequest.
type Hotkeys struct {
	Loaded bool     `json:"modelLoaded"`
	Model  string   `json:"modelName"`
	ID     string   `json:"modelID"`
	All    []Hotkey `json:"availableHotkeys"`
}

// Hotkey is one of a model.
type Hotkey struct {
	Name string `json:"name"` // may be empty, and others' too
	Type string `json:"type"` // such as ToggleExpression
	File string `json:"file"` // of its expression or animation
	ID   string `json:"hotkeyID"`
}

// ToggleExpression is the type of a hotkey that takes an expression off when it is on.
const ToggleExpression = "ToggleExpression"

// Trigger is the data of a HotkeyRequest.
type Trigger struct {
	Hotkey string `json:"hotkeyID"` // or its name, in either case
}

// ExpressionsOf is the data of an ExpressionsRequest.
type ExpressionsOf struct {
	Details bool `json:"details"`
}

// Expressions answers an ExpressionsRequest.
type Expressions struct {
	All []Expression `json:"expressions"`
}

// Expression is one of a model.
type Expression struct {
	Name   string `json:"name"`
	File   string `json:"file"` // NAME.exp3.json
	Active bool   `json:"active"`
}

// Activation is the data of an ExpressionRequest.
type Activation struct {
	File   string   `json:"expressionFile"`
	Fade   *float64 `json:"fadeTime,omitempty"` // seconds, 0..2; 0.25 without
	Active bool     `json:"active"`
}

// Move is the data of a MoveRequest. What is nil stays as it is.
type Move struct {
	Seconds  float64  `json:"timeInSeconds"` // 0..2
	Relative bool     `json:"valuesAreRelativeToModel"`
	X        *float64 `json:"positionX,omitempty"` // -1000..1000; the window is -1..1
	Y        *float64 `json:"positionY,omitempty"`
	Rotation *float64 `json:"rotation,omitempty"` // degrees, -360..360
	Size     *float64 `json:"size,omitempty"`     // -100..100
}

// Parameters answers a ParametersRequest.
type Parameters struct {
	Default []Parameter `json:"defaultParameters"`
	Custom  []Parameter `json:"customParameters"`
}

// Parameter is what a model's movements listen to.
type Parameter struct {
	Name string  `json:"name"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// Creation is the data of a CreateRequest.
type Creation struct {
	Name        string  `json:"parameterName"` // 4 to 32 letters and digits
	Explanation string  `json:"explanation"`   // at most 255 characters
	Min         float64 `json:"min"`
	Max         float64 `json:"max"`
	Default     float64 `json:"defaultValue"`
}

// Injection is the data of an InjectRequest. A value that is not sent again within a second is lost.
type Injection struct {
	FaceFound bool    `json:"faceFound"`
	Mode      string  `json:"mode"` // set, or add
	Values    []Value `json:"parameterValues"`
}

// Value is of one parameter.
type Value struct {
	ID    string  `json:"id"`
	Value float64 `json:"value"`
}

// Subscription is the data of a SubscribeRequest.
type Subscription struct {
	Event     string         `json:"eventName"`
	Subscribe bool           `json:"subscribe"`
	Config    map[string]any `json:"config"`
}

// Clicked is the data of ModelClicked.
type Clicked struct {
	OnModel  bool `json:"modelWasClicked"`
	Button   int  `json:"mouseButtonID"` // 0 left, 1 right, 2 middle
	Position struct {
		X float64 `json:"x"`
		Y float64 `json:"y"`
	} `json:"clickPosition"`
	Hits []struct {
		Order int `json:"artMeshOrder"` // 0 is on top
		Info  struct {
			Mesh string `json:"artMeshID"`
		} `json:"hitInfo"`
	} `json:"artMeshHits"`
}
