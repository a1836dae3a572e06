package blocks

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// Requests of rss.
const (
	rssFrame = iota
	rssTable
)

var rss = &Block{
	Name: "rss", RTL: "nic_rss.sv", Go: "models/nic/core/rss.go",
	Ops: []Op{
		rssFrame: {
			Name: "frame",
			Request: layout(num("op", 1), num("hit", 1), gap(6), entry(&nicspec.SteerKeyInfo), raw("rss_key", nicspec.RssKeyBytes),
				code("action", actionName), num("rule", 1), num("queue", 2), num("rss_log", 1), num("account_en", 1), num("account", 1),
				num("slow_queue", 1), code("default_action", actionName), num("default_log", 1), num("default_queue", 2), gap(2)),
			Result: layout(num("op", 1), num("hit", 1), num("deliver", 1), num("rule", 1), num("queue", 2), num("hash", 4), gap(1),
				num("account_en", 1), num("account", 1), num("slow_queue", 1)),
		},
		rssTable: tableOp(&nicspec.IndirectionEntryInfo),
	},
	Stimulus: rssStimulus, Reference: rssReference,
}

// rssRequest is a frame's request.
type rssRequest struct {
	hit           bool
	key           nicspec.SteerKeyFields
	rssKey        [nicspec.RssKeyBytes]byte
	rule          uint8
	said          nicspec.RuleEntryFields // action, queue and account
	defaultAction nicspec.Action
	defaultLog    uint8
	defaultQueue  uint16
}

const (
	rssKeyAt  = 8
	rssWordAt = rssKeyAt + nicspec.SteerKeySize
	rssSaidAt = rssWordAt + nicspec.RssKeyBytes
)

func (q *rssRequest) packet() Packet {
	b := make([]byte, rssSaidAt, rssSaidAt+14)
	b[0], b[1] = rssFrame, flag(q.hit)
	q.key.Encode(b[rssKeyAt:rssWordAt])
	copy(b[rssWordAt:], q.rssKey[:])
	b = append(b, uint8(q.said.Action), q.rule)
	b = le.AppendUint16(b, q.said.Queue)
	b = append(b, q.said.RssLog, q.said.AccountEn, q.said.Account, uint8(q.said.SlowQueue), uint8(q.defaultAction), q.defaultLog)
	b = le.AppendUint16(b, q.defaultQueue)
	return Packet{Data: append(b, 0, 0)}
}

func rssDecode(b []byte) (q rssRequest) {
	q.hit, q.key = b[1] != 0, nicspec.DecodeSteerKey(b[rssKeyAt:rssWordAt])
	copy(q.rssKey[:], b[rssWordAt:])
	s := b[rssSaidAt:]
	q.rule = s[1]
	q.said = nicspec.RuleEntryFields{
		Valid: 1, Action: nicspec.Action(s[0]), Queue: le.Uint16(s[2:]), RssLog: s[4], AccountEn: s[5], Account: s[6],
		SlowQueue: uint16(s[7]),
	}
	q.defaultAction, q.defaultLog, q.defaultQueue = nicspec.Action(s[8]), s[9], le.Uint16(s[10:])
	return q
}

func rssStimulus(rng *rand.Rand, n int) (list []Packet) {
	key := noise(rng, nicspec.RssKeyBytes)
	for range n {
		if maybe(rng, 20) {
			list = append(list, rssTableRequest(rng))
			continue
		}
		if maybe(rng, 2) {
			key = noise(rng, nicspec.RssKeyBytes)
		}
		q := rssRequest{
			hit: maybe(rng, 70), key: steerKey(rng), rule: uint8(rng.Uint32()),
			defaultAction: nicspec.Action(rng.IntN(3)), defaultLog: uint8(rng.IntN(nicspec.RssLogMax + 1)),
		}
		copy(q.rssKey[:], key)
		q.said = direction(rng)
		q.defaultQueue = queueFor(rng, q.defaultAction)
		list = append(list, q.packet())
	}
	return list
}

func rssTableRequest(rng *rand.Rand) Packet {
	index := rng.IntN(nicspec.RssEntries)
	if maybe(rng, 60) {
		index = rng.IntN(4)
	}
	if maybe(rng, 30) {
		return tableRequest(rssTable, nicspec.TableIndirection, index, nil)
	}
	e := nicspec.IndirectionEntryFields{Queue: uint16(rng.IntN(nicspec.DefaultBuild().NumRxq))}
	if maybe(rng, 15) {
		e.Queue = uint16(rng.Uint32())
	}
	b := noise(rng, tableBytes) // words beyond the entry are ignored
	e.Encode(b[:nicspec.IndirectionEntrySize])
	return tableRequest(rssTable, nicspec.TableIndirection, index, b)
}

// direction is what a rule may say of a frame's way.
func direction(rng *rand.Rand) (f nicspec.RuleEntryFields) {
	f.Valid, f.Action = 1, pick(rng, nicspec.ActionDrop, nicspec.ActionQueue, nicspec.ActionRss, nicspec.ActionRss)
	f.Queue, f.RssLog = queueFor(rng, f.Action), uint8(rng.IntN(nicspec.RssLogMax+1))
	if f.Action != nicspec.ActionDrop && maybe(rng, 40) {
		f.AccountEn, f.Account = 1, uint8(rng.IntN(nicspec.NumAccounts))
		f.SlowQueue = uint16(rng.IntN(nicspec.DefaultBuild().NumRxq))
	}
	return f
}

// queueFor is a queue, or a place in the indirection table.
func queueFor(rng *rand.Rand, a nicspec.Action) uint16 {
	if a == nicspec.ActionRss {
		return uint16(pick(rng, 0, 0, 1, rng.IntN(nicspec.RssEntries), nicspec.RssEntries-1))
	}
	return uint16(rng.IntN(nicspec.DefaultBuild().NumRxq))
}

func rssReference() func(Packet) []Packet {
	regs := newRegs()
	var words [nicspec.RssKeyBytes]byte
	var key *core.RssKey
	return func(req Packet) []Packet {
		if req.Data[0] == rssTable {
			return []Packet{tableAnswer(regs, req)}
		}
		q := rssDecode(req.Data)
		if key == nil || words != q.rssKey {
			for i := range nicspec.RegRssKeyCount {
				key = key.With(i, le.Uint32(q.rssKey[4*i:]))
			}
			words = q.rssKey
		}
		c := regs.Config()
		c.RssKey, c.DefaultAction, c.DefaultLog, c.DefaultQueue = key, q.defaultAction, q.defaultLog, q.defaultQueue
		if q.hit {
			c.Rules = (*core.RuleSet)(nil).With(int(q.rule), &q.said)
		}
		var v core.RxVerdict
		c.Steer(0, headersOf(&q.key), &v)
		return []Packet{rssResult(&v)}
	}
}

func rssResult(v *core.RxVerdict) Packet {
	b := make([]byte, 14)
	rule, hit := v.Hit()
	b[1], b[2] = flag(hit), flag(v.Drop == core.NoDrop)
	if hit {
		b[3] = uint8(rule)
	}
	le.PutUint32(b[6:], v.Hash)
	if v.Drop == core.NoDrop {
		le.PutUint16(b[4:], v.Queue)
		if v.Account.On {
			b[11], b[12], b[13] = 1, v.Account.ID, uint8(v.Account.Queue)
		}
	}
	return Packet{Data: b}
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
