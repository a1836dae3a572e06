package registers

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block counters, and the numbers of ports and of sources that the block is built for.
const (
	countersStep = iota
	countersRead
	counterPorts   = 2
	counterSources = 4
)

var Counters = &kit.Block{
	Name: "counters", RTL: "registers/nic_counters.sv", Go: "models/nic/core/counters.go",
	Ops: []kit.Op{
		countersStep: {
			Name: "step",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Gap(1), kit.Num("disabled", 1), kit.Num("copy_bytes", 1),
				kit.Gap(4), kit.Num("port0", 4), kit.Num("port1", 4),
				kit.Num("rx_bytes0", 4), kit.Num("rx_bytes1", 4), kit.Num("tx_bytes0", 4), kit.Num("tx_bytes1", 4),
				kit.Num("source0", 2), kit.Num("source1", 2), kit.Num("source2", 2), kit.Num("source3", 2)),
			Result: kit.NewLayout(kit.Num("op", 1)),
		},
		countersRead: {
			Name:    "read",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Num("index", 1)),
			Result:  kit.NewLayout(kit.Num("op", 1), kit.Num("index", 1), kit.Num("value", 8)),
		},
	},
	Stimulus: countersStimulus, Reference: countersReference,
}

// counterBytes selects the counters that step by more than one.
const counterBytes = 1<<nicspec.CntRxBytes | 1<<nicspec.CntTxBytes

// countersStimulus steps counters, several at once and often one by several sources, and reads all indices, with and
// without a counter.
func countersStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	for range n {
		b := make([]byte, 40)
		if kit.Maybe(rng, 40) {
			b[0], b[1] = countersRead,
				uint8(kit.Pick(rng, rng.IntN(32*counterPorts), int(nicspec.CntTxWqe)+rng.IntN(16), rng.IntN(256)))
			list = append(list, kit.Packet{Data: b})
			continue
		}
		b[2], b[3] = uint8(rng.IntN(4)), kit.Pick(rng, 0, 128, uint8(rng.IntN(129)))
		for p := range counterPorts {
			steps := rng.Uint32() & (1<<(nicspec.CntTxPause+1) - 1) &^ counterBytes
			kit.LittleEndian.PutUint32(b[8+4*p:], kit.Pick(rng, steps, steps&rng.Uint32(), 0))
			kit.LittleEndian.PutUint32(b[16+4*p:], counterBytesOf(rng))
			kit.LittleEndian.PutUint32(b[24+4*p:], counterBytesOf(rng))
		}
		for s := range counterSources {
			steps := uint16(rng.Uint32()) & (1<<(nicspec.CntCopyBytes-nicspec.CntTxWqe) - 1)
			kit.LittleEndian.PutUint16(b[32+2*s:], kit.Pick(rng, steps, 0))
		}
		list = append(list, kit.Packet{Data: b})
	}
	return list
}

// counterBytesOf returns the bytes of a frame, or so many that the sum soon exceeds 32 bits.
func counterBytesOf(rng *rand.Rand) uint32 {
	return kit.Pick(rng, 0, uint32(rng.IntN(nicspec.FrameMax)), rng.Uint32())
}

func countersReference() func(kit.Packet) []kit.Packet {
	var c core.Counters
	return func(req kit.Packet) []kit.Packet {
		b := req.Data
		if b[0] == countersRead {
			return []kit.Packet{{Data: kit.LittleEndian.AppendUint64([]byte{b[0], b[1]}, c.At(int(b[1])))}}
		}
		for p := range counterPorts {
			for k := nicspec.PortCounter(0); k <= nicspec.CntTxPause; k++ {
				c.StepPort(k, p, uint64(kit.LittleEndian.Uint32(b[8+4*p:])>>k&1))
			}
			c.StepPort(nicspec.CntRxDropDisabled, p, uint64(b[2]>>p&1))
			c.StepPort(nicspec.CntRxBytes, p, uint64(kit.LittleEndian.Uint32(b[16+4*p:])))
			c.StepPort(nicspec.CntTxBytes, p, uint64(kit.LittleEndian.Uint32(b[24+4*p:])))
		}
		for s := range counterSources {
			for k := range int(nicspec.CntCopyBytes - nicspec.CntTxWqe) {
				c.Add(nicspec.CntTxWqe+nicspec.DevCounter(k), uint64(kit.LittleEndian.Uint16(b[32+2*s:])>>k&1))
			}
		}
		c.Add(nicspec.CntCopyBytes, uint64(b[3]))
		return nil
	}
}
