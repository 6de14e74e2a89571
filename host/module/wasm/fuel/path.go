package fuel

// dead is the cost at a place that is never reached. It is below every other
// cost, so that it loses where ways meet.
const dead = -1

// frame is an open block, loop, if or else of a function, or its body.
type frame struct {
	op     byte
	label  int // values that a branch to it carries
	onEnd  int // cost at its end by the dearest branch there
	onElse int // of an if: cost at its else, or at its end when it has none
}

// path follows the control flow of one function and knows at each place the
// cost, about in instructions, since the last check on the dearest way there.
// All branches but those to loop headers go forward and loop headers have a
// check of their own, so one pass over the code is enough.
type path struct {
	frames []frame
	cost   int
}

// start begins a function whose entry has a check.
func (p *path) start() {
	p.frames = p.frames[:0]
	p.cost = 0
	p.open(opBlock, 0)
}

// depth is the number of open frames, which are the labels in reach.
func (p *path) depth() uint32 { return uint32(len(p.frames)) }

// top is the op of the innermost frame.
func (p *path) top() byte { return p.frames[len(p.frames)-1].op }

// add charges n instructions.
func (p *path) add(n int) {
	if p.cost != dead {
		p.cost += n
	}
}

// checked notes that there is a check here.
func (p *path) checked() { p.cost = min(p.cost, 0) }

// due takes the whole stretches off the cost and returns their number.
func (p *path) due() int {
	n := p.cost / stretch
	p.cost -= n * stretch
	return n
}

// stop notes that nothing after this place is reached from here.
func (p *path) stop() { p.cost = dead }

func (p *path) open(op byte, label int) {
	f := frame{op: op, label: label, onEnd: dead, onElse: dead}
	if op == opIf {
		f.onElse = p.cost
	}
	p.frames = append(p.frames, f)
}

// turn goes from an if to its else.
func (p *path) turn() {
	f := &p.frames[len(p.frames)-1]
	f.op = opElse
	f.onEnd = max(f.onEnd, p.cost)
	p.cost, f.onElse = f.onElse, dead
}

func (p *path) close() {
	f := p.frames[len(p.frames)-1]
	p.frames = p.frames[:len(p.frames)-1]
	p.cost = max(p.cost, f.onEnd, f.onElse)
}

// branch notes a jump to the label i, counted from the innermost.
func (p *path) branch(i uint32) {
	f := &p.frames[len(p.frames)-1-int(i)]
	if p.cost != dead && f.op != opLoop {
		f.onEnd = max(f.onEnd, p.cost+f.label)
	}
}
