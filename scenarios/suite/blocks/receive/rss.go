package receive

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block rss.
const (
	rssFrame = iota
	rssTable
)

var RSS = &kit.Block{
	Name: "rss", RTL: "receive/nic_rss.sv", Go: "models/nic/core/rss.go",
	Ops: []kit.Op{
		rssFrame: {
			Name: "frame",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Num("hit", 1), kit.Gap(6), kit.Entry(&nicspec.SteerKeyInfo),
				kit.Raw("rss_key", nicspec.RssKeyBytes),
				kit.Code("action", kit.ActionName), kit.Num("rule", 1), kit.Num("queue", 2), kit.Num("rss_log", 1),
				kit.Num("account_en", 1), kit.Num("account", 1),
				kit.Num("slow_queue", 1), kit.Code("default_action", kit.ActionName), kit.Num("default_log", 1),
				kit.Num("default_queue", 2), kit.Gap(2)),
			Result: kit.NewLayout(kit.Num("op", 1), kit.Num("hit", 1), kit.Num("deliver", 1), kit.Num("rule", 1),
				kit.Num("queue", 2), kit.Num("hash", 4), kit.Gap(1),
				kit.Num("account_en", 1), kit.Num("account", 1), kit.Num("slow_queue", 1)),
		},
		rssTable: kit.TableOp(&nicspec.IndirectionEntryInfo),
	},
	Stimulus: rssStimulus, Reference: rssReference,
}

// rssRequest asks for the queue of a frame.
type rssRequest struct {
	hit           bool
	key           nicspec.SteerKeyFields
	rssKey        [nicspec.RssKeyBytes]byte
	rule          uint8
	matched       nicspec.RuleEntryFields // action, queue and account of the matching rule
	defaultAction nicspec.Action
	defaultLog    uint8
	defaultQueue  uint16
}

const (
	rssKeyAt     = 8
	rssWordAt    = rssKeyAt + nicspec.SteerKeySize
	rssMatchedAt = rssWordAt + nicspec.RssKeyBytes
)

func (q *rssRequest) packet() kit.Packet {
	b := make([]byte, rssMatchedAt, rssMatchedAt+14)
	b[0], b[1] = rssFrame, kit.Flag(q.hit)
	q.key.Encode(b[rssKeyAt:rssWordAt])
	copy(b[rssWordAt:], q.rssKey[:])
	b = append(b, uint8(q.matched.Action), q.rule)
	b = kit.LittleEndian.AppendUint16(b, q.matched.Queue)
	b = append(b, q.matched.RssLog, q.matched.AccountEn, q.matched.Account, uint8(q.matched.SlowQueue),
		uint8(q.defaultAction),
		q.defaultLog)
	b = kit.LittleEndian.AppendUint16(b, q.defaultQueue)
	return kit.Packet{Data: append(b, 0, 0)}
}

func rssDecode(b []byte) (q rssRequest) {
	q.hit, q.key = b[1] != 0, nicspec.DecodeSteerKey(b[rssKeyAt:rssWordAt])
	copy(q.rssKey[:], b[rssWordAt:])
	s := b[rssMatchedAt:]
	q.rule = s[1]
	q.matched = nicspec.RuleEntryFields{
		Valid: 1, Action: nicspec.Action(s[0]), Queue: kit.LittleEndian.Uint16(s[2:]), RssLog: s[4], AccountEn: s[5],
		Account:   s[6],
		SlowQueue: uint16(s[7]),
	}
	q.defaultAction, q.defaultLog, q.defaultQueue = nicspec.Action(s[8]), s[9], kit.LittleEndian.Uint16(s[10:])
	return q
}

func rssStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	key := kit.Noise(rng, nicspec.RssKeyBytes)
	for range n {
		if kit.Maybe(rng, 20) {
			list = append(list, rssTableRequest(rng))
			continue
		}
		if kit.Maybe(rng, 2) {
			key = kit.Noise(rng, nicspec.RssKeyBytes)
		}
		q := rssRequest{
			hit: kit.Maybe(rng, 70), key: kit.SteerKey(rng), rule: uint8(rng.Uint32()),
			defaultAction: nicspec.Action(rng.IntN(3)), defaultLog: uint8(rng.IntN(nicspec.RssLogMax + 1)),
		}
		copy(q.rssKey[:], key)
		q.matched = kit.Direction(rng)
		q.defaultQueue = kit.QueueFor(rng, q.defaultAction)
		list = append(list, q.packet())
	}
	return list
}

func rssTableRequest(rng *rand.Rand) kit.Packet {
	index := rng.IntN(nicspec.RssEntries)
	if kit.Maybe(rng, 60) {
		index = rng.IntN(4)
	}
	if kit.Maybe(rng, 30) {
		return kit.TableRequest(rssTable, nicspec.TableIndirection, index, nil)
	}
	e := nicspec.IndirectionEntryFields{Queue: uint16(rng.IntN(nicspec.DefaultBuild().NumRxq))}
	if kit.Maybe(rng, 15) {
		e.Queue = uint16(rng.Uint32())
	}
	b := kit.Noise(rng, kit.TableBytes) // words beyond the entry are ignored
	e.Encode(b[:nicspec.IndirectionEntrySize])
	return kit.TableRequest(rssTable, nicspec.TableIndirection, index, b)
}

func rssReference() func(kit.Packet) []kit.Packet {
	regs := kit.NewRegs()
	var words [nicspec.RssKeyBytes]byte
	var key *core.RssKey
	return func(req kit.Packet) []kit.Packet {
		if req.Data[0] == rssTable {
			return []kit.Packet{kit.TableAnswer(regs, req)}
		}
		q := rssDecode(req.Data)
		if key == nil || words != q.rssKey {
			for i := range nicspec.RegRssKeyCount {
				key = key.With(i, kit.LittleEndian.Uint32(q.rssKey[4*i:]))
			}
			words = q.rssKey
		}
		c := regs.Config()
		c.RssKey, c.DefaultAction, c.DefaultLog, c.DefaultQueue = key, q.defaultAction, q.defaultLog, q.defaultQueue
		if q.hit {
			c.Rules = (*core.RuleSet)(nil).With(int(q.rule), &q.matched)
		}
		var v core.RxVerdict
		c.Steer(0, kit.HeadersOf(&q.key), &v)
		return []kit.Packet{rssResult(&v)}
	}
}

func rssResult(v *core.RxVerdict) kit.Packet {
	b := make([]byte, 14)
	rule, hit := v.Hit()
	b[1], b[2] = kit.Flag(hit), kit.Flag(v.Drop == core.NoDrop)
	if hit {
		b[3] = uint8(rule)
	}
	kit.LittleEndian.PutUint32(b[6:], v.Hash)
	if v.Drop == core.NoDrop {
		kit.LittleEndian.PutUint16(b[4:], v.Queue)
		if v.Account.On {
			b[11], b[12], b[13] = 1, v.Account.ID, uint8(v.Account.Queue)
		}
	}
	return kit.Packet{Data: b}
}
