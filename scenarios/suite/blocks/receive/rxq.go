package receive

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block rxq.
const (
	rxqTable = iota
	rxqDoorbell
	rxqTake
	rxqFail
	rxqComes
	rxqIndices = 128 // number of indices by which the block may fetch descriptors ahead
)

var Rxq = &kit.Block{
	Name: "rxq", RTL: "receive/nic_rxq.sv", Go: "models/nic/core/rxq.go",
	Ops: []kit.Op{
		rxqTable: kit.TableOp(&nicspec.RxqEntryInfo),
		rxqDoorbell: {Name: "doorbell", Request: rxqRequest,
			Result: kit.NewLayout(kit.Num("op", 1), kit.Num("accepted", 1), kit.Num("db_bad", 1))},
		rxqTake: {
			Name: "take", Request: rxqRequest,
			Result: kit.NewLayout(kit.Num("op", 1), kit.Num("fetched", 1), kit.Num("state", 1), kit.Num("taken", 1),
				kit.Num("pi", 2), kit.Num("ci", 2), kit.Num("cqi", 2),
				kit.Num("log_size", 1), kit.Num("split_mode", 1), kit.Num("split_len", 2), kit.Num("hdr_buf_size", 2),
				kit.Num("pay_buf_size", 2),
				kit.Num("crc_mode", 1), kit.Num("ecn_mode", 1), kit.Num("cq_base", 8), kit.Num("ring_base", 8)),
		},
		rxqFail: {
			Name: "fail", Request: rxqRequest,
			Result: kit.NewLayout(kit.Num("op", 1), kit.Gap(1), kit.Num("queue_err", 1), kit.Num("events", 1),
				kit.Code("status", kit.StatusName), kit.Num("queue", 1),
				kit.Num("index", 2), kit.Num("cqi", 2)),
		},
		rxqComes: {Name: "frame comes", Request: rxqRequest, Result: kit.NewLayout(kit.Num("op", 1))},
	},
	Stimulus: rxqStimulus, Reference: rxqReference,
}

var rxqRequest = kit.NewLayout(kit.Num("op", 1), kit.Num("hold", 1), kit.Num("queue", 2), kit.Num("pi", 2),
	kit.Num("ahead", 1), kit.Code("status", kit.StatusName))

// rxqStimulus uses few queues, most of them enabled, with small rings. A frame may wait while its queue is disabled and
// enabled: whether it gets a descriptor depends on the queue's state at the end of the wait.
func rxqStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	queues := make([]int, 4)
	for i := range queues {
		queues[i] = rng.IntN(nicspec.DefaultBuild().NumRxq)
	}
	var last uint16 // index that the latest doorbell announced, approximately
	for range n {
		q := kit.Pick(rng, queues...)
		b := make([]byte, 8)
		b[1] = kit.Pick(rng, 0, uint8(rng.IntN(8)))
		kit.LittleEndian.PutUint16(b[2:], uint16(q))
		switch rng.IntN(17) {
		case 0, 1:
			list = append(list, rxqCommand(rng, q))
			continue
		case 2:
			list = append(list, kit.TableRequest(rxqTable, nicspec.TableRxq, q, nil))
			continue
		case 3, 4, 5, 6:
			b[0] = rxqDoorbell
			last = uint16(int(last) + rng.IntN(8) - 3)
			kit.LittleEndian.PutUint16(b[4:], kit.Pick(rng, last, last, uint16(rng.IntN(20)), uint16(rng.Uint32())))
			if kit.Maybe(rng, 5) {
				kit.LittleEndian.PutUint16(b[2:], uint16(rng.IntN(nicspec.RegRxDoorbellCount)))
			}
		case 7:
			b[0], b[6] = rxqFail, uint8(rng.IntN(rxqIndices))
			b[7] = uint8(kit.Pick(rng, nicspec.StatusCplUnsupported, nicspec.StatusCplAbort, nicspec.StatusCplPoison,
				nicspec.StatusCplTimeout))
		case 8:
			list = append(list, rxqWaits(rng, q)...)
			continue
		default:
			b[0] = rxqTake
		}
		list = append(list, kit.Packet{Data: b})
	}
	return list[:n]
}

// rxqCommand writes an entry of a queue, in most cases one that enables it.
func rxqCommand(rng *rand.Rand, q int) kit.Packet {
	var e [nicspec.RxqEntrySize]byte
	f := kit.RxqEntry(rng)
	if kit.Maybe(rng, 70) {
		f.Enable, f.LogSize = 1, uint8(2+rng.IntN(3))
	}
	f.Encode(e[:])
	return kit.TableRequest(rxqTable, nicspec.TableRxq, q, e[:])
}

// rxqWaits makes a frame wait for a descriptor while its queue is disabled and enabled.
func rxqWaits(rng *rand.Rand, q int) []kit.Packet {
	of := func(op uint8) kit.Packet {
		b := make([]byte, 8)
		b[0] = op
		kit.LittleEndian.PutUint16(b[2:], uint16(q))
		return kit.Packet{Data: b}
	}
	list := []kit.Packet{of(rxqComes)}
	if kit.Maybe(rng, 70) {
		list = append(list, kit.TableRequest(rxqTable, nicspec.TableRxq, q, make([]byte, nicspec.RxqEntrySize)))
	}
	list = append(list, rxqCommand(rng, q))
	if kit.Maybe(rng, 70) {
		d := of(rxqDoorbell)
		kit.LittleEndian.PutUint16(d.Data[4:], uint16(1+rng.IntN(4)))
		list = append(list, d)
	}
	take := of(rxqTake)
	take.Data[6] = 1
	return append(list, take)
}

func rxqReference() func(kit.Packet) []kit.Packet {
	regs := kit.NewRegs()
	return func(req kit.Packet) []kit.Packet {
		b := req.Data
		if b[0] == rxqTable {
			res := kit.TableAnswer(regs, req)
			regs.Drained()
			return []kit.Packet{res}
		}
		id := int(kit.LittleEndian.Uint16(b[2:]))
		q := regs.Rxq(id)
		switch b[0] {
		case rxqDoorbell:
			e := regs.Write32(nicspec.RegRxDoorbell(id), uint32(kit.LittleEndian.Uint16(b[4:])))
			ok := e.Kind == core.EffectDoorbell
			return []kit.Packet{{Data: []byte{b[0], kit.Flag(ok), kit.Flag(!ok)}}}
		case rxqTake:
			return []kit.Packet{rxqTaken(q)}
		case rxqComes:
			return []kit.Packet{{Data: []byte{rxqComes}}}
		}
		res := make([]byte, 10)
		res[0] = b[0]
		if q.State == nicspec.QueueStateRun {
			q.Fail(nicspec.Status(b[7]))
			res[2], res[3], res[4], res[5] = 1, 1, uint8(q.Err), uint8(id)
			kit.LittleEndian.PutUint16(res[6:], q.CI+uint16(b[6]))
			kit.LittleEndian.PutUint16(res[8:], q.CQI)
			q.CQI++
		}
		return []kit.Packet{{Data: res}}
	}
}

// rxqTaken takes a descriptor of the queue for a frame, if one is posted, and returns the result.
func rxqTaken(q *core.Queue) kit.Packet {
	run := q.State == nicspec.QueueStateRun
	b := []byte{rxqTake, kit.Flag(run), uint8(q.State), 0}
	if !run {
		return kit.Packet{Data: append(b, make([]byte, 32)...)}
	}
	b[3] = kit.Flag(q.Posted() != 0)
	b = kit.LittleEndian.AppendUint16(b, q.PI)
	b = kit.LittleEndian.AppendUint16(b, q.CI)
	b = kit.LittleEndian.AppendUint16(b, q.CQI)
	b = append(b, q.LogSize, uint8(q.SplitMode))
	b = kit.LittleEndian.AppendUint16(b, q.SplitLen)
	b = kit.LittleEndian.AppendUint16(b, q.HdrBufSize)
	b = kit.LittleEndian.AppendUint16(b, q.PayBufSize)
	b = append(b, uint8(q.CrcMode), q.EcnMode)
	b = kit.LittleEndian.AppendUint64(b, q.CqBase)
	b = kit.LittleEndian.AppendUint64(b, q.RingBase)
	if b[3] != 0 {
		q.CI++
		q.CQI++
	}
	return kit.Packet{Data: b}
}
