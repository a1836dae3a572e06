package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// Requests of rxq.
const (
	rxqTable = iota
	rxqDoorbell
	rxqTake
	rxqFail
	rxqIndices = 128 // as far ahead as descriptors are fetched
)

var rxq = &Block{
	Name: "rxq", RTL: "nic_rxq.sv", Go: "models/nic/core/rxq.go",
	Ops: []Op{
		rxqTable:    tableOp(&nicspec.RxqEntryInfo),
		rxqDoorbell: {Name: "doorbell", Request: rxqRequest, Result: layout(num("op", 1), num("accepted", 1), num("db_bad", 1))},
		rxqTake: {
			Name: "take", Request: rxqRequest,
			Result: layout(num("op", 1), num("fetched", 1), num("state", 1), num("taken", 1), num("pi", 2), num("ci", 2), num("cqi", 2),
				num("log_size", 1), num("split_mode", 1), num("split_len", 2), num("hdr_buf_size", 2), num("pay_buf_size", 2),
				num("crc_mode", 1), num("ecn_mode", 1), num("cq_base", 8), num("ring_base", 8)),
		},
		rxqFail: {
			Name: "fail", Request: rxqRequest,
			Result: layout(num("op", 1), gap(1), num("queue_err", 1), num("events", 1), code("status", statusName), num("queue", 1),
				num("index", 2), num("cqi", 2)),
		},
	},
	Stimulus: rxqStimulus, Reference: rxqReference,
}

var rxqRequest = layout(num("op", 1), num("hold", 1), num("queue", 2), num("pi", 2), num("ahead", 1), code("status", statusName))

// rxqStimulus has few queues, most of them running, whose rings are small.
func rxqStimulus(rng *rand.Rand, n int) (list []Packet) {
	queues := make([]int, 4)
	for i := range queues {
		queues[i] = rng.IntN(nicspec.DefaultBuild().NumRxq)
	}
	var last uint16 // that was posted, about
	for range n {
		q := pick(rng, queues...)
		b := make([]byte, 8)
		b[1] = pick(rng, 0, uint8(rng.IntN(8)))
		le.PutUint16(b[2:], uint16(q))
		switch rng.IntN(16) {
		case 0, 1:
			var e [nicspec.RxqEntrySize]byte
			f := rxqEntry(rng)
			if maybe(rng, 70) {
				f.Enable, f.LogSize = 1, uint8(2+rng.IntN(3))
			}
			f.Encode(e[:])
			list = append(list, tableRequest(rxqTable, nicspec.TableRxq, q, e[:]))
			continue
		case 2:
			list = append(list, tableRequest(rxqTable, nicspec.TableRxq, q, nil))
			continue
		case 3, 4, 5, 6:
			b[0] = rxqDoorbell
			last = uint16(int(last) + rng.IntN(8) - 3)
			le.PutUint16(b[4:], pick(rng, last, last, uint16(rng.IntN(20)), uint16(rng.Uint32())))
			if maybe(rng, 5) {
				le.PutUint16(b[2:], uint16(rng.IntN(nicspec.RegRxDoorbellCount)))
			}
		case 7:
			b[0], b[6] = rxqFail, uint8(rng.IntN(rxqIndices))
			b[7] = uint8(pick(rng, nicspec.StatusCplUnsupported, nicspec.StatusCplAbort, nicspec.StatusCplPoison, nicspec.StatusCplTimeout))
		default:
			b[0] = rxqTake
		}
		list = append(list, Packet{Data: b})
	}
	return list
}

func rxqReference() func(Packet) []Packet {
	regs := newRegs()
	return func(req Packet) []Packet {
		b := req.Data
		if b[0] == rxqTable {
			res := tableAnswer(regs, req)
			regs.Drained()
			return []Packet{res}
		}
		id := int(le.Uint16(b[2:]))
		q := regs.Rxq(id)
		switch b[0] {
		case rxqDoorbell:
			e := regs.Write32(nicspec.RegRxDoorbell(id), uint32(le.Uint16(b[4:])))
			ok := e.Kind == core.EffectDoorbell
			return []Packet{{Data: []byte{b[0], flag(ok), flag(!ok)}}}
		case rxqTake:
			return []Packet{rxqTaken(q)}
		}
		res := make([]byte, 10)
		res[0] = b[0]
		if q.State == nicspec.QueueStateRun {
			q.Fail(nicspec.Status(b[7]))
			res[2], res[3], res[4], res[5] = 1, 1, uint8(q.Err), uint8(id)
			le.PutUint16(res[6:], q.CI+uint16(b[6]))
			le.PutUint16(res[8:], q.CQI)
			q.CQI++
		}
		return []Packet{{Data: res}}
	}
}

// rxqTaken is what a frame finds, and takes a descriptor if there is one.
func rxqTaken(q *core.Queue) Packet {
	run := q.State == nicspec.QueueStateRun
	b := []byte{rxqTake, flag(run), uint8(q.State), 0}
	if !run {
		return Packet{Data: append(b, make([]byte, 32)...)}
	}
	b[3] = flag(q.Posted() != 0)
	b = le.AppendUint16(b, q.PI)
	b = le.AppendUint16(b, q.CI)
	b = le.AppendUint16(b, q.CQI)
	b = append(b, q.LogSize, uint8(q.SplitMode))
	b = le.AppendUint16(b, q.SplitLen)
	b = le.AppendUint16(b, q.HdrBufSize)
	b = le.AppendUint16(b, q.PayBufSize)
	b = append(b, uint8(q.CrcMode), q.EcnMode)
	b = le.AppendUint64(b, q.CqBase)
	b = le.AppendUint64(b, q.RingBase)
	if b[3] != 0 {
		q.CI++
		q.CQI++
	}
	return Packet{Data: b}
}
