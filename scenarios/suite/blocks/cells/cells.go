package cells

import (
	"encoding/binary"
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

const (
	steps   = 32 // number of steps in a request
	stepLen = 2  // size of a value of type step, in bytes
	idle    = 2  // minimum number of cycles without a step between requests
)

// step is a cell's inputs or outputs in one cycle, in the bit order of the cell's wrapper.
type step = uint16

// state is the reference of a cell. cycle takes the inputs of a cycle, and returns the outputs in the same cycle.
type state interface{ cycle(in step) (out step) }

// cell returns the block that plays a cell.
func cell(name, module string, in, out *kit.Layout, stimulus func(*rand.Rand) func() step,
	reset func() state) *kit.Block {
	return &kit.Block{
		Name: name, RTL: "cells/" + module + ".sv", Go: "scenarios/suite/blocks/cells/cells.go",
		Ops: []kit.Op{{
			Name: "steps", Request: kit.NewLayout().WithList("step", in), Result: kit.NewLayout().WithList("step", out),
		}},
		Stimulus:  func(rng *rand.Rand, n int) []kit.Packet { return requests(stimulus(rng), n) },
		Reference: func() func(kit.Packet) []kit.Packet { return reference(reset()) },
	}
}

func requests(next func() step, n int) (list []kit.Packet) {
	for range n {
		b := make([]byte, 0, steps*stepLen)
		for range steps {
			b = binary.LittleEndian.AppendUint16(b, next())
		}
		list = append(list, kit.Packet{Data: b})
	}
	return list
}

// reference plays the steps of requests. Cells are idle after two cycles without inputs, so the number of cycles
// between requests does not matter.
func reference(s state) func(kit.Packet) []kit.Packet {
	return func(p kit.Packet) []kit.Packet {
		out := make([]byte, 0, steps*stepLen)
		for i := range steps {
			out = binary.LittleEndian.AppendUint16(out, s.cycle(binary.LittleEndian.Uint16(p.Data[stepLen*i:])))
		}
		for range idle {
			s.cycle(0)
		}
		return []kit.Packet{{Data: out}}
	}
}

// bits returns a layout that names the bits of a step, from bit 0 on.
func bits(fields ...nicspec.FieldInfo) *kit.Layout {
	at := 0
	for i := range fields {
		fields[i].Bit = at
		at += fields[i].Width
	}
	return kit.NewLayout(kit.Part{Bytes: stepLen, Fields: fields})
}

func field(name string, width int) nicspec.FieldInfo {
	return nicspec.FieldInfo{Name: name, Width: width}
}

// bit returns a step with bit n set to a value.
func bit(n int, set bool) step { return step(kit.Flag(set)) << n }

// All returns all cells. If a technology replaces cells by its own, its cells are played instead of ours.
func All() []*kit.Block {
	return []*kit.Block{
		stream("fifo", func() state { return &queue{depth: 8} }),
		stream("ram_fifo", func() state { return &ramQueue{depth: 8} }),
		stream("skid", func() state { return &queue{depth: 2} }),
		cell("arb", "nic_arb", bits(field("requests", 6), field("", 2), field("take", 1)),
			bits(field("valid", 1), field("index", 3)),
			arbSteps, func() state { return &arbiter{served: arbRequests - 1} }),
		cell("ram_mask", "nic_ram_mask",
			bits(field("write", 1), field("read", 1), field("waddr", 3), field("raddr", 3), field("wdata", 4),
				field("wmask", 4)),
			bits(field("word", 4)), memorySteps, func() state { return &memory{} }),
		gate("clkgate"), gate("clkgate_icg"),
	}
}

func stream(name string, reset func() state) *kit.Block {
	return cell(name, "nic_"+name, bits(field("push", 1), field("pop", 1), field("", 2), field("word", 12)),
		bits(field("ready", 1), field("valid", 1), field("", 2), field("word", 12)), streamSteps, reset)
}

func gate(name string) *kit.Block {
	return cell(name, "nic_clkgate", bits(field("enable", 1), field("test", 1)),
		bits(field("rises", 8), field("falls", 8)),
		gateSteps, func() state { return &edges{} })
}
