package registers

import (
	"math/rand/v2"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block msix.
const (
	msixOn = iota
	msixOff
	msixEntries
	msixReset
	msixSlots     = 4  // in a request: number of its slots, each for one completion entry or none
	msixApartAt   = 20 // in a request: offset of the number of cycles from each slot to the next
	msixSlotsAt   = 24 // in a request: offset of its slots
	msixSlotBytes = 8
	msixSentAt    = 4 // in a result: offset of the messages sent
	msixSentBytes = 24
	msixPatient   = 64 // least time limit (in core.ModUnit) of a queue that gets two entries far apart
)

var MSIX = &kit.Block{
	Name: "msix", RTL: "pcie/nic_msix.sv", Go: "models/nic/core/msix.go",
	Ops: []kit.Op{
		msixOn:      {Name: "on", Request: msixRequest, Result: kit.NewLayout(kit.Num("op", 1))},
		msixOff:     {Name: "off", Request: msixRequest, Result: msixResult},
		msixEntries: {Name: "entries", Request: msixRequest, Result: msixResult},
		msixReset:   {Name: "reset", Request: msixRequest, Result: kit.NewLayout(kit.Num("op", 1))},
	},
	Stimulus: msixStimulus, Reference: msixReference,
}

var (
	msixRequest = kit.NewLayout(kit.Num("op", 1), kit.Num("tx", 1), kit.Num("queue", 1), kit.Gap(1),
		kit.Num("mod_count", 2), kit.Num("mod_cycles", 2), kit.Num("addr", 8),
		kit.Num("data", 4), kit.Num("apart", 2), kit.Gap(2), msixSlot("0"), msixSlot("1"), msixSlot("2"), msixSlot("3"))
	msixResult = kit.NewLayout(kit.Num("op", 1), kit.Num("others", 1), kit.Num("counted", 1), kit.Gap(1), msixSent("0"),
		msixSent("1"), msixSent("2"), msixSent("3"))
)

// msixSlot returns the fields of slot n of a request: a queue, whether a completion entry of it is sent, and the time
// limit of the queue's MSI-X messages in cycles.
func msixSlot(n string) kit.Part {
	l := kit.NewLayout(kit.Num("has"+n, 1), kit.Num("tx"+n, 1), kit.Num("queue"+n, 1), kit.Num("event"+n, 1),
		kit.Num("limit"+n, 4))
	return kit.Part{Bytes: l.Bytes, Fields: l.Fields}
}

// msixSent returns the fields of a result for slot n of the request: the MSI-X message sent for the slot's queue.
func msixSent(n string) kit.Part {
	l := kit.NewLayout(kit.Num("messages"+n, 1), kit.Num("timed"+n, 1), kit.Num("late"+n, 1), kit.Gap(1),
		kit.Raw("header"+n, tlp.HeaderBytes), kit.Num("data"+n, 4))
	return kit.Part{Bytes: l.Bytes, Fields: l.Fields}
}

// msixQueue is the state of a queue, for both stimulus and reference.
type msixQueue struct {
	tx, id uint8
	on     bool
	v      core.Vector
	m      core.Moderator
}

// msixStimulus enables and disables a few queues with and without a time limit, and sends completion entries of them.
// Time limits are longer than the delay of a message that is due at once. Some messages report two entries of one
// queue, sent so far apart that a limit counted from the second entry would show as a late message [M2]; the queue's
// limit is longer than this distance. Occasionally a reset discards unreported entries [L2], and the queues are enabled
// again.
func msixStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	var queues [6]msixQueue
	for i := range queues {
		queues[i] = msixQueue{tx: uint8(i & 1), id: uint8(rng.IntN(nicspec.DefaultBuild().NumRxq/8) + 8*i)}
	}
	queues[1].id = queues[0].id
	for range n {
		q := &queues[rng.IntN(len(queues))]
		b := make([]byte, msixSlotsAt+msixSlots*msixSlotBytes)
		switch {
		case kit.Maybe(rng, 3):
			b[0] = msixReset
			for i := range queues {
				queues[i].on = false
			}
		case !q.on:
			q.on = true
			q.v = core.Vector{
				Addr:   kit.Pick(rng, 0, uint64(rng.Uint32()), rng.Uint64(), rng.Uint64(), rng.Uint64()) &^ 3,
				Data:   rng.Uint32(),
				Count:  uint16(kit.Pick(rng, 0, 1, 2, 3, 5)),
				Cycles: uint16(kit.Pick(rng, 0, 0, 18+rng.IntN(4), msixPatient+rng.IntN(4))),
			}
			kit.LittleEndian.PutUint16(b[4:], q.v.Count)
			kit.LittleEndian.PutUint16(b[6:], q.v.Cycles)
			kit.LittleEndian.PutUint64(b[8:], q.v.Addr)
			kit.LittleEndian.PutUint32(b[16:], q.v.Data)
		case kit.Maybe(rng, 10):
			q.on = false
			b[0] = msixOff
			for i := 1; i < msixSlots; i++ {
				b[msixSlotsAt+i*msixSlotBytes+2] = 0xff // queue number of no queue
			}
			q.entry(b[msixSlotsAt:], uint8(rng.IntN(2)), false)
		default:
			b[0] = msixEntries
			for i, k := range rng.Perm(len(queues))[:msixSlots] {
				queues[k].entry(b[msixSlotsAt+i*msixSlotBytes:], kit.Flag(queues[k].on && kit.Maybe(rng, 60)),
					kit.Maybe(rng, 8))
			}
			if q.v.Cycles >= msixPatient {
				kit.LittleEndian.PutUint16(b[msixApartAt:], uint16(18*core.ModUnit+rng.IntN(core.ModUnit)))
				for _, i := range rng.Perm(msixSlots)[:2] {
					q.entry(b[msixSlotsAt+i*msixSlotBytes:], 1, kit.Maybe(rng, 8))
				}
			}
		}
		b[1], b[2] = q.tx, q.id
		list = append(list, kit.Packet{Data: b})
	}
	return list
}

func (q *msixQueue) entry(b []byte, has uint8, event bool) {
	b[0], b[1], b[2], b[3] = has, q.tx, q.id, kit.Flag(event)
	kit.LittleEndian.PutUint32(b[4:], uint32(q.v.Cycles)*core.ModUnit)
}

func msixReference() func(kit.Packet) []kit.Packet {
	type name struct{ tx, id uint8 }
	queues, cycle := map[name]*msixQueue{}, int64(0)
	return func(req kit.Packet) []kit.Packet {
		const apart = 1 << 20 // cycles between requests; all time limits of entries expire earlier
		cycle += apart
		b := req.Data
		if b[0] == msixReset {
			clear(queues)
			return nil
		}
		if b[0] == msixOn {
			queues[name{b[1], b[2]}] = &msixQueue{v: core.Vector{
				Addr: kit.LittleEndian.Uint64(b[8:]), Data: kit.LittleEndian.Uint32(b[16:]),
				Count: kit.LittleEndian.Uint16(b[4:]), Cycles: kit.LittleEndian.Uint16(b[6:]),
			}}
			return nil
		}
		res := make([]byte, msixSentAt+msixSlots*msixSentBytes)
		res[0] = b[0]
		of := func(i int) name { return name{b[msixSlotsAt+i*msixSlotBytes+1], b[msixSlotsAt+i*msixSlotBytes+2]} }
		send := func(n name, timed bool) {
			res[2]++
			for i := range msixSlots {
				if of(i) == n {
					queues[n].sent(res[msixSentAt+i*msixSentBytes:], timed)
				}
			}
		}
		for i := range msixSlots {
			s, q := b[msixSlotsAt+i*msixSlotBytes:], queues[of(i)]
			if q == nil {
				continue
			}
			now := cycle + int64(i)*int64(kit.LittleEndian.Uint16(b[msixApartAt:]))
			if s[0] != 0 {
				q.m.Wrote(&q.v, s[3] != 0, now)
			}
			if b[0] == msixOff && i == 0 {
				q.m.Close(now)
			}
			if q.m.DueAt() <= now {
				send(of(i), false)
			}
		}
		for i := range msixSlots {
			if q := queues[of(i)]; q != nil && q.m.DueAt() != core.Never {
				send(of(i), true)
			}
		}
		if b[0] == msixOff {
			delete(queues, of(0))
		}
		return []kit.Packet{{Data: res}}
	}
}

// sent marks the message of a queue as sent, and fills in b, its msixSent. timed: it waited for the time limit.
func (q *msixQueue) sent(b []byte, timed bool) {
	var p tlp.Packet
	q.m.Sent()
	b[0]++
	b[1] = kit.Flag(timed)
	if err := p.SetMSIX(tlp.Origin{RequesterID: nicspec.RequesterNic}, q.v.Addr, q.v.Data); err != nil {
		return // an invalid address: the message's fields stay zero and differ from the block's
	}
	copy(b[4:], p.Hdr[:])
	copy(b[4+tlp.HeaderBytes:], p.Data)
}
