package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// Requests of msix.
const (
	msixOn = iota
	msixOff
	msixEntries
	msixReset
	msixSlots     = 4
	msixApartAt   = 20 // in a request
	msixSlotsAt   = 24 // in a request
	msixSlotBytes = 8
	msixSentAt    = 4 // in a result
	msixSentBytes = 24
	msixPatient   = 64 // units of the limits of queues whose entries come apart
)

var msix = &Block{
	Name: "msix", RTL: "nic_msix.sv", Go: "models/nic/core/msix.go",
	Ops: []Op{
		msixOn:      {Name: "on", Request: msixRequest, Result: layout(num("op", 1))},
		msixOff:     {Name: "off", Request: msixRequest, Result: msixResult},
		msixEntries: {Name: "entries", Request: msixRequest, Result: msixResult},
		msixReset:   {Name: "reset", Request: msixRequest, Result: layout(num("op", 1))},
	},
	Stimulus: msixStimulus, Reference: msixReference,
}

var (
	msixRequest = layout(num("op", 1), num("tx", 1), num("queue", 1), gap(1), num("mod_count", 2), num("mod_cycles", 2), num("addr", 8),
		num("data", 4), num("apart", 2), gap(2), msixSlot("0"), msixSlot("1"), msixSlot("2"), msixSlot("3"))
	msixResult = layout(num("op", 1), num("others", 1), num("counted", 1), gap(1), msixSent("0"), msixSent("1"), msixSent("2"), msixSent("3"))
)

// msixSlot is an entry that leaves, and the cycles after which it falls due by time.
func msixSlot(n string) part {
	l := layout(num("has"+n, 1), num("tx"+n, 1), num("queue"+n, 1), num("event"+n, 1), num("limit"+n, 4))
	return part{l.Bytes, l.Fields}
}

// msixSent is its message.
func msixSent(n string) part {
	l := layout(num("messages"+n, 1), num("timed"+n, 1), num("late"+n, 1), gap(1), raw("header"+n, tlp.HeaderBytes), num("data"+n, 4))
	return part{l.Bytes, l.Fields}
}

// msixQueue is a queue, as stimulus and reference see it.
type msixQueue struct {
	tx, id uint8
	on     bool
	v      core.Vector
	m      core.Moderator
}

// msixStimulus has a few queues of both kinds go on and off, and entries of them. The limits in time are longer than a
// message may take that is due at once. Some requests have two entries of a queue, so far apart that a limit which counts
// from the second one is seen to be late [M2]; the queue's limit is longer than they are apart. Now and then a reset forgets
// what is unreported [L2], and the queues come on again.
func msixStimulus(rng *rand.Rand, n int) (list []Packet) {
	var queues [6]msixQueue
	for i := range queues {
		queues[i] = msixQueue{tx: uint8(i & 1), id: uint8(rng.IntN(nicspec.DefaultBuild().NumRxq/8) + 8*i)}
	}
	queues[1].id = queues[0].id
	for range n {
		q := &queues[rng.IntN(len(queues))]
		b := make([]byte, msixSlotsAt+msixSlots*msixSlotBytes)
		switch {
		case maybe(rng, 3):
			b[0] = msixReset
			for i := range queues {
				queues[i].on = false
			}
		case !q.on:
			q.on = true
			q.v = core.Vector{
				Addr: pick(rng, 0, uint64(rng.Uint32()), rng.Uint64(), rng.Uint64(), rng.Uint64()) &^ 3, Data: rng.Uint32(),
				Count: uint16(pick(rng, 0, 1, 2, 3, 5)), Cycles: uint16(pick(rng, 0, 0, 18+rng.IntN(4), msixPatient+rng.IntN(4))),
			}
			le.PutUint16(b[4:], q.v.Count)
			le.PutUint16(b[6:], q.v.Cycles)
			le.PutUint64(b[8:], q.v.Addr)
			le.PutUint32(b[16:], q.v.Data)
		case maybe(rng, 10):
			q.on = false
			b[0] = msixOff
			for i := 1; i < msixSlots; i++ {
				b[msixSlotsAt+i*msixSlotBytes+2] = 0xff // no queue
			}
			q.entry(b[msixSlotsAt:], uint8(rng.IntN(2)), false)
		default:
			b[0] = msixEntries
			for i, k := range rng.Perm(len(queues))[:msixSlots] {
				queues[k].entry(b[msixSlotsAt+i*msixSlotBytes:], flag(queues[k].on && maybe(rng, 60)), maybe(rng, 8))
			}
			if q.v.Cycles >= msixPatient {
				le.PutUint16(b[msixApartAt:], uint16(18*core.ModUnit+rng.IntN(core.ModUnit)))
				for _, i := range rng.Perm(msixSlots)[:2] {
					q.entry(b[msixSlotsAt+i*msixSlotBytes:], 1, maybe(rng, 8))
				}
			}
		}
		b[1], b[2] = q.tx, q.id
		list = append(list, Packet{Data: b})
	}
	return list
}

func (q *msixQueue) entry(b []byte, has uint8, event bool) {
	b[0], b[1], b[2], b[3] = has, q.tx, q.id, flag(event)
	le.PutUint32(b[4:], uint32(q.v.Cycles)*core.ModUnit)
}

func msixReference() func(Packet) []Packet {
	type name struct{ tx, id uint8 }
	queues, cycle := map[name]*msixQueue{}, int64(0)
	return func(req Packet) []Packet {
		const apart = 1 << 20 // cycles between requests: no entry of one waits in the next
		cycle += apart
		b := req.Data
		if b[0] == msixReset {
			clear(queues)
			return nil
		}
		if b[0] == msixOn {
			queues[name{b[1], b[2]}] = &msixQueue{v: core.Vector{
				Addr: le.Uint64(b[8:]), Data: le.Uint32(b[16:]), Count: le.Uint16(b[4:]), Cycles: le.Uint16(b[6:]),
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
			now := cycle + int64(i)*int64(le.Uint16(b[msixApartAt:]))
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
		return []Packet{{Data: res}}
	}
}

// sent is the message of a queue.
func (q *msixQueue) sent(b []byte, timed bool) {
	var p tlp.Packet
	q.m.Sent()
	b[0]++
	b[1] = flag(timed)
	if err := p.SetMSIX(tlp.Origin{RequesterID: nicspec.RequesterNic}, q.v.Addr, q.v.Data); err != nil {
		return // no field of it is right then
	}
	copy(b[4:], p.Hdr[:])
	copy(b[4+tlp.HeaderBytes:], p.Data)
}
