package fuel_test

// handmade gives the valid modules that all whole-module tests share, by name.
func handmade() map[string]module {
	return map[string]module{
		"empty":       {},
		"loop":        loopForever(),
		"fib":         fib(),
		"fill":        fillForever(),
		"start":       startForever(),
		"bulk":        bulkMemory(),
		"bulk-tables": bulkTables(),
		"elements":    elementForms(),
		"imports":     importsOfAllKinds(),
		"globals":     globalsOfAllKinds(),
		"vectors":     vectors(),
		"control":     control(),
		"unreachable": unreachableCode(),
		"long":        longCode(2_000),
		"skipping":    skippingCode(200),
		"wide":        wideValues(),
	}
}

var (
	noneToNone = typ(nil, nil)
	noneToI32  = typ(nil, []byte{i32})
	i32ToI32   = typ([]byte{i32}, []byte{i32})
	onePage    = [][]byte{{0, 1}}
)

func loopForever() module {
	return module{
		types:     [][]byte{noneToNone},
		functions: []function{{export: "run", code: join([]byte{opLoop, void}, op(opBr, 0), []byte{opEnd})}},
	}
}

// fib has no loop: only its recursion takes long.
func fib() module {
	return module{
		types: [][]byte{i32ToI32},
		functions: []function{{export: "run", code: join(
			op(opLocalGet, 0), konst(2), []byte{0x48, opIf, i32}, op(opLocalGet, 0), []byte{opElse},
			op(opLocalGet, 0), konst(1), []byte{0x6b}, op(opCall, 0),
			op(opLocalGet, 0), konst(2), []byte{0x6b}, op(opCall, 0), []byte{0x6a, opEnd},
		)}},
	}
}

func fillForever() module {
	return module{
		types:    [][]byte{noneToNone},
		memories: [][]byte{{0, 16}},
		functions: []function{{export: "run", code: join([]byte{opLoop, void},
			konst(0), konst(7), konst(16<<16), misc(11, 0), op(opBr, 0), []byte{opEnd})}},
	}
}

func startForever() module {
	m := loopForever()
	m.start = ptr(0)
	return m
}

// bulkMemory returns a byte after fill, copy and init.
func bulkMemory() module {
	return module{
		types: [][]byte{i32ToI32}, memories: onePage, dataCount: true,
		datas: [][]byte{
			join([]byte{1}, name("passive")),
			join([]byte{0}, konst(9), []byte{opEnd}, name("active")),
			join([]byte{2, 0}, konst(30), []byte{opEnd}, name("explicit")),
		},
		functions: []function{{export: "run", runs: 1, locals: local(2, i64), code: join(
			konst(100), konst(42), konst(3000), misc(11, 0),
			konst(4000), konst(0), konst(2000), misc(10, 0, 0),
			konst(50), konst(0), konst(7), misc(8, 0, 0), misc(9, 0),
			op(opLocalGet, 0), op(0x2d, 0, 0))}},
	}
}

// bulkTables calls through a table after init, copy, fill and grow.
func bulkTables() module {
	table := func(code byte) []byte { return []byte{0xfc, code} }
	return module{
		types: [][]byte{noneToI32}, tables: [][]byte{{funcref, 0, 10}, {funcref, 1, 10, 20}},
		elements: [][]byte{join([]byte{1, 0}, vector([][]byte{u32(0), u32(1)}))},
		functions: []function{
			{code: konst(10)}, {code: konst(20)},
			{export: "run", code: join(
				konst(1), konst(0), konst(2), table(12), u32(0), u32(0), // table.init
				konst(4), konst(1), konst(2), table(14), u32(1), u32(0), // table.copy to 1 from 0
				konst(0), op(0xd2, 1), konst(3), table(17), u32(0), // table.fill
				op(0xd2, 0), konst(2), table(15), u32(1), []byte{opDrop}, // table.grow
				table(13), u32(0), // elem.drop
				konst(0), op(0x11, 0, 0), konst(4), op(0x11, 0, 1), []byte{0x6a},
				table(16), u32(1), []byte{0x6a},
				konst(5), op(0x25, 1), []byte{0xd1, 0x6a}, // table.get, ref.is_null
				konst(5), []byte{0xd0, funcref}, op(0x26, 1))}, // table.set
		},
	}
}

// elementForms has element segments with all eight flags; run(n) calls entry n.
func elementForms() module {
	at := func(n int32) []byte { return join(konst(n), []byte{opEnd}) }
	indexes := func(i ...uint32) []byte {
		var v [][]byte
		for _, x := range i {
			v = append(v, u32(x))
		}
		return vector(v)
	}
	exprs := func(i ...uint32) []byte {
		var v [][]byte
		for _, x := range i {
			v = append(v, join([]byte{0xd2}, u32(x), []byte{opEnd}))
		}
		return vector(append(v, []byte{0xd0, funcref, opEnd}))
	}
	return module{
		types:   [][]byte{noneToI32, i32ToI32},
		imports: [][]byte{importFunc("host", "seven", 0)},
		tables:  [][]byte{{funcref, 0, 20}},
		elements: [][]byte{
			join([]byte{0}, at(0), indexes(1, 0)),
			join([]byte{1, 0}, indexes(1, 2)),
			join([]byte{2, 0}, at(2), []byte{0}, indexes(2)),
			join([]byte{3, 0}, indexes(3)),
			join([]byte{4}, at(3), exprs(1, 2)),
			join([]byte{5, funcref}, exprs(2, 0)),
			join([]byte{6, 0}, at(6), []byte{funcref}, exprs(1)),
			join([]byte{7, funcref}, exprs(3)),
		},
		functions: []function{
			{code: konst(100)}, {code: konst(200)},
			{typ: 1, export: "run", code: join(
				konst(8), konst(0), konst(2), misc(12, 1, 0),
				konst(10), konst(0), konst(2), misc(12, 5, 0),
				op(opLocalGet, 0), op(0x11, 0, 0))},
		},
		exports: []export{{"seven", 0, 0}, {"table", 1, 0}},
	}
}

func importsOfAllKinds() module {
	return module{
		types: [][]byte{noneToI32, i32ToI32},
		imports: [][]byte{
			join(name("env"), name("memory"), []byte{2, 0, 1}),
			importFunc("host", "seven", 0),
			join(name("env"), name("table"), []byte{1, funcref, 1, 1, 9}),
			join(name("env"), name("global"), []byte{3, i32, 0}),
			importFunc("host", "double", 1),
		},
		globals: [][]byte{global(i32, 1, op(opGlobalGet, 0))},
		functions: []function{{export: "run", code: join(
			op(opCall, 0), op(opCall, 1), op(opGlobalGet, 1), []byte{0x6a})}},
	}
}

func globalsOfAllKinds() module {
	return module{
		types: [][]byte{noneToI32},
		globals: [][]byte{
			global(i32, 1, konst(-5)), global(i64, 0, konst64(-1<<63)),
			global(0x7d, 1, join([]byte{0x43}, []byte{0, 0, 128, 63})),
			global(0x7c, 1, join([]byte{0x44}, f64bits(2.5))),
			global(v128, 0, vec(12, make([]byte, 16)...)),
			global(funcref, 1, op(0xd2, 0)), global(externref, 1, []byte{0xd0, externref}),
		},
		functions: []function{{export: "run", code: op(opGlobalGet, 0)}},
		exports:   []export{{"g", 3, 0}, {"f", 3, 5}},
	}
}

// vectors has operands of each shape and opcodes of one and of two bytes.
func vectors() module {
	lanes := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 31}
	return module{
		types: [][]byte{noneToI32}, memories: onePage,
		functions: []function{{export: "run", code: join(
			konst(16), vec(12, lanes...), vec(12, make([]byte, 16)...), vec(13, lanes...), vec(0xa0), // const, shuffle, i32x4.abs
			vec(11, 4, 0),                       // v128.store
			konst(16), vec(0, 4, 0), vec(22, 5), // v128.load, i8x16.extract_lane_u
			konst(17), konst(16), vec(0, 4, 0), // v128.load
			vec(84, 0, 0, 3), vec(27, 0), []byte{0x6a}, // v128.load8_lane, i32x4.extract_lane
			konst(16), vec(92, 2, 4), vec(0xa3), []byte{0x6a}, // v128.load32_zero, i32x4.all_true
		)}},
	}
}

func control() module {
	return module{
		types: [][]byte{i32ToI32, typ([]byte{i32, i32}, []byte{i32, i32})},
		functions: []function{{export: "run", runs: 2, locals: join(local(1, i32), local(1, i64)), code: join(
			[]byte{opBlock, void, opBlock, void, opBlock, void},
			op(opLocalGet, 0), op(opBrTable, 2, 0, 1, 2), []byte{opEnd},
			konst(10), []byte{opReturn, opEnd},
			countTo(5, 1, join(op(opLocalGet, 0), konst(3), []byte{0x6a}, op(opLocalSet, 0))),
			[]byte{opEnd},
			op(opLocalGet, 0), konst(1), []byte{opLoop, 1, opLoop, 1, opBlock, 1, opEnd, opEnd, opEnd},
			op(opLocalGet, 0), []byte{0x1c, 1, i32}, // select
		)}},
	}
}

func unreachableCode() module {
	return module{
		types: [][]byte{noneToI32}, memories: onePage,
		functions: []function{{export: "run", code: join(
			[]byte{opBlock, i32}, konst(3), op(opBr, 0),
			misc(11, 0), []byte{opLoop, void, opEnd}, op(opCall, 0), []byte{opIf, void, opElse, opEnd, opDrop},
			[]byte{opUnreachable, opEnd})}},
	}
}

// longCode has n stores and no loop.
func longCode(n int) module {
	return module{
		types: [][]byte{noneToNone}, memories: onePage,
		functions: []function{{export: "run", code: repeat(n, join(konst(8), konst(1), op(opI32Store, 2, 0)))}},
	}
}

// skippingCode has n blocks of 150 instructions, each left by a branch after
// 120: a guard that counts instructions in the order of the text and puts its
// checks there has all of them jumped over.
func skippingCode(n int) module {
	block := join([]byte{opBlock, void}, repeat(118, []byte{0x01}), op(opBr, 0), repeat(30, []byte{0x01}), []byte{opEnd})
	return module{
		types:     [][]byte{noneToNone},
		functions: []function{{export: "run", code: repeat(n, block)}},
	}
}

// wideValues moves 900 values by one instruction, again and again.
func wideValues() module {
	wide := repeat(900, []byte{i32})
	return module{
		types: [][]byte{noneToNone, typ(nil, wide), typ(wide, wide)},
		functions: []function{
			{export: "run", code: join(op(opCall, 1), repeat(20, op(opCall, 2)), repeat(900, []byte{opDrop}))},
			{typ: 1, code: repeat(900, konst(1))},
			{typ: 2, code: func() []byte {
				var b []byte
				for i := range uint32(900) {
					b = append(b, op(opLocalGet, i)...)
				}
				return b
			}()},
		},
	}
}
