package fuel

// edit is one change of a body.
type edit struct {
	kind editKind
	at   int    // place in the body
	end  int    // of setIndex: place after the old index
	n    uint32 // units of addCheck, new index of setIndex
}

type editKind byte

const (
	addCheck  editKind = iota // burn n units
	addCharge                 // burn units by the length on the stack
	setIndex                  // replace a function index
)

// emit appends the body that was read last, with its edits. A function with
// bulk operations gets one more local of type i32, after all others, which
// holds their length.
func (s *scanner) emit(b []byte) []byte {
	body := s.in.data
	runs := s.runs
	if s.bulk {
		runs++
	}
	b = appendU32(b, runs)
	b = append(b, body[s.decls:s.code]...)
	if s.bulk {
		b = append(b, 1, 0x7f)
	}
	b = s.appendCheck(b, s.entry)
	from := s.code
	for _, e := range s.edits {
		b = append(b, body[from:e.at]...)
		from = e.at
		switch e.kind {
		case addCheck:
			b = s.appendCheck(b, e.n)
		case addCharge:
			b = s.appendCharge(b)
		case setIndex:
			b = appendU32(b, e.n)
			from = e.end
		}
	}
	return append(b, body[from:]...)
}

// appendCheck appends: fuel -= units; if fuel < 0 { fuel = tick() }.
//
// It cannot wrap around: the fuel is never negative before it, as tick's answer
// is not, and units are few. It leaves the operands below alone, so it can be
// between any two instructions.
func (s *scanner) appendCheck(b []byte, units uint32) []byte {
	b = s.appendGlobal(b, opGlobalGet)
	b = append(b, opI32Const)
	b = appendS32(b, int32(units))
	b = append(b, opI32Sub)
	b = s.appendGlobal(b, opGlobalSet)
	return s.appendTick(b)
}

// appendTick appends: if fuel < 0 { fuel = tick() }.
func (s *scanner) appendTick(b []byte) []byte {
	b = s.appendGlobal(b, opGlobalGet)
	b = append(b, opI32Const, 0, opI32LtS, opIf, emptyBlock, opCall)
	b = appendU32(b, s.spaces.importedFunctions) // tick is the last import
	b = s.appendGlobal(b, opGlobalSet)
	return append(b, opEnd)
}

// appendCharge appends: fuel -= n>>5 + 1; while fuel < 0 { fuel += tick() + 1 }, with n
// the i32 on top of the stack, which stays there. n>>5 is below 2**27. Memory is filled
// with some 10 GB a second, which makes it 3 ns a unit, as of ordinary code. It may be
// many slices, and all of them are paid for; the one more is for a tick that gives nothing.
func (s *scanner) appendCharge(b []byte) []byte {
	b = s.appendLength(b, opLocalTee)
	b = s.appendGlobal(b, opGlobalGet)
	b = s.appendLength(b, opLocalGet)
	b = append(b, opI32Const, 5, opI32ShrU, opI32Sub, opI32Const, 1, opI32Sub)
	b = s.appendGlobal(b, opGlobalSet)
	b = append(b, opLoop, emptyBlock)
	b = s.appendGlobal(b, opGlobalGet)
	b = append(b, opI32Const, 0, opI32LtS, opIf, emptyBlock, opCall)
	b = appendU32(b, s.spaces.importedFunctions)
	b = append(b, opI32Const, 1, opI32Add)
	b = s.appendGlobal(b, opGlobalGet)
	b = append(b, opI32Add)
	b = s.appendGlobal(b, opGlobalSet)
	return append(b, opBr, 1, opEnd, opEnd)
}

// appendLength appends an access to the added local, the last one.
func (s *scanner) appendLength(b []byte, op byte) []byte {
	return appendU32(append(b, op), s.locals)
}

// appendGlobal appends an access to the fuel, the last global.
func (s *scanner) appendGlobal(b []byte, op byte) []byte {
	return appendU32(append(b, op), s.spaces.globals)
}
