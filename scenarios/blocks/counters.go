package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// Requests of counters, and for how many ports and sources it is built.
const (
	countersStep = iota
	countersRead
	counterPorts   = 2
	counterSources = 4
)

var counters = &Block{
	Name: "counters", RTL: "nic_counters.sv", Go: "models/nic/core/counters.go",
	Ops: []Op{
		countersStep: {
			Name: "step",
			Request: layout(num("op", 1), gap(1), num("disabled", 1), num("copy_bytes", 1), gap(4), num("port0", 4), num("port1", 4),
				num("rx_bytes0", 4), num("rx_bytes1", 4), num("tx_bytes0", 4), num("tx_bytes1", 4),
				num("source0", 2), num("source1", 2), num("source2", 2), num("source3", 2)),
			Result: layout(num("op", 1)),
		},
		countersRead: {
			Name:    "read",
			Request: layout(num("op", 1), num("index", 1)),
			Result:  layout(num("op", 1), num("index", 1), num("value", 8)),
		},
	},
	Stimulus: countersStimulus, Reference: countersReference,
}

// counterBytes is the counters that are not stepped by one.
const counterBytes = 1<<nicspec.CntRxBytes | 1<<nicspec.CntTxBytes

// countersStimulus is steps of any counters at once, often of the same by several sources, and reads of all places.
func countersStimulus(rng *rand.Rand, n int) (list []Packet) {
	for range n {
		b := make([]byte, 40)
		if maybe(rng, 40) {
			b[0], b[1] = countersRead, uint8(pick(rng, rng.IntN(32*counterPorts), int(nicspec.CntTxWqe)+rng.IntN(16), rng.IntN(256)))
			list = append(list, Packet{Data: b})
			continue
		}
		b[2], b[3] = uint8(rng.IntN(4)), pick(rng, 0, 128, uint8(rng.IntN(129)))
		for p := range counterPorts {
			steps := rng.Uint32() & (1<<(nicspec.CntTxPause+1) - 1) &^ counterBytes
			le.PutUint32(b[8+4*p:], pick(rng, steps, steps&rng.Uint32(), 0))
			le.PutUint32(b[16+4*p:], counterBytesOf(rng))
			le.PutUint32(b[24+4*p:], counterBytesOf(rng))
		}
		for s := range counterSources {
			steps := uint16(rng.Uint32()) & (1<<(nicspec.CntCopyBytes-nicspec.CntTxWqe) - 1)
			le.PutUint16(b[32+2*s:], pick(rng, steps, 0))
		}
		list = append(list, Packet{Data: b})
	}
	return list
}

// counterBytesOf is what a frame adds, or so much that the sum soon has more than 32 bits.
func counterBytesOf(rng *rand.Rand) uint32 {
	return pick(rng, 0, uint32(rng.IntN(nicspec.FrameMax)), rng.Uint32())
}

func countersReference() func(Packet) []Packet {
	var c core.Counters
	return func(req Packet) []Packet {
		b := req.Data
		if b[0] == countersRead {
			return []Packet{{Data: le.AppendUint64([]byte{b[0], b[1]}, c.At(int(b[1])))}}
		}
		for p := range counterPorts {
			for k := nicspec.PortCounter(0); k <= nicspec.CntTxPause; k++ {
				c.StepPort(k, p, uint64(le.Uint32(b[8+4*p:])>>k&1))
			}
			c.StepPort(nicspec.CntRxDropDisabled, p, uint64(b[2]>>p&1))
			c.StepPort(nicspec.CntRxBytes, p, uint64(le.Uint32(b[16+4*p:])))
			c.StepPort(nicspec.CntTxBytes, p, uint64(le.Uint32(b[24+4*p:])))
		}
		for s := range counterSources {
			for k := range int(nicspec.CntCopyBytes - nicspec.CntTxWqe) {
				c.Add(nicspec.CntTxWqe+nicspec.DevCounter(k), uint64(le.Uint16(b[32+2*s:])>>k&1))
			}
		}
		c.Add(nicspec.CntCopyBytes, uint64(b[3]))
		return nil
	}
}
