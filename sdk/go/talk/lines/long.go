package lines

import (
	"fmt"
	"strings"

	"github.com/companiond/companiond/abi"
)

// heard is how many bytes something of a talk may have that stands in a line: a phrase that is repeated, a word, a greeting.
const heard = 512

// long says that a line could become longer than anything that is said may be, with what the head has for its placeholders.
// Nobody would hear it, and the character would be at fault when its turn comes.
func (s *Script) long(l *Line) error {
	size := len(l.Text)
	for _, key := range l.Needs {
		size += s.longest(key)
	}
	if size <= abi.MaxText {
		return nil
	}
	if len(l.Needs) == 0 {
		return fmt.Errorf("a line of %d bytes, at most %d are said at once", size, abi.MaxText)
	}
	return fmt.Errorf("the line may come to %d bytes with what stands for {%s}, and at most %d are said at once", size, strings.Join(l.Needs, "}, {"), abi.MaxText)
}

// longest gives the bytes that a placeholder may stand for at most.
func (s *Script) longest(key string) int {
	person := len(s.Human) + strings.Count(s.Human, "{name}")*abi.MaxName
	most := heard
	switch key {
	case "human":
		most = max(most, person)
	case "who":
		most = max(most, person)
		for _, call := range s.Calls {
			most = max(most, len(call))
		}
	case "first", "last":
		for _, topic := range s.Topics {
			most = max(most, len(topic.En), len(topic.Ja))
		}
	case "hi", "quote", "word", "it", "memory":
	default:
		most = len(s.Calls[key])
	}
	return most
}
