package receive

import (
	"math/rand/v2"

	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/blocks/kit"
)

// Kinds of requests of block steer.
const (
	SteerFrame = iota
	SteerTable
	steerHit
	steerRead
)

var (
	ruleRequest = kit.NewLayout(kit.Num("op", 1), kit.Num("rule", 1))
	steerResult = kit.NewLayout(kit.Num("op", 1), kit.Num("hit", 1), kit.Num("rule", 1),
		kit.Code("action", kit.ActionName), kit.Num("queue", 2), kit.Num("rss_log", 1),
		kit.Num("account_en", 1), kit.Num("account", 1), kit.Num("slow_queue", 1))
)

var Steer = &kit.Block{
	Name: "steer", RTL: "receive/nic_steer.sv", Go: "models/nic/core/steer.go",
	Ops: []kit.Op{
		SteerFrame: {Name: "frame",
			Request: kit.NewLayout(kit.Num("op", 1), kit.Gap(7), kit.Entry(&nicspec.SteerKeyInfo)),
			Result:  steerResult},
		SteerTable: kit.TableOp(&nicspec.RuleEntryInfo),
		steerHit:   {Name: "hit", Request: ruleRequest, Result: kit.NewLayout(kit.Num("op", 1))},
		steerRead: {Name: "read of hits", Request: ruleRequest,
			Result: kit.NewLayout(kit.Num("op", 1), kit.Gap(9), kit.Num("hits", 8))},
	},
	Stimulus: steerStimulus, Reference: SteerReference,
}

// steerStimulus writes rules that compare a few bytes of a few keys, and looks such keys up. Some rules are rewritten
// as invalid, and then a key that they matched is looked up.
func steerStimulus(rng *rand.Rand, n int) (list []kit.Packet) {
	var pool []nicspec.SteerKeyFields
	for range 6 {
		k := kit.SteerKey(rng)
		k.Port = uint8(rng.IntN(2))
		pool = append(pool, k)
	}
	for len(list) < n {
		switch rng.IntN(10) {
		case 0, 1, 2:
			list = append(list, ruleCommand(rng, pool))
		case 3:
			b := make([]byte, 8)
			b[0], b[1] = uint8(kit.Pick(rng, steerHit, steerHit, steerRead)), uint8(ruleIndex(rng))
			list = append(list, kit.Packet{Data: b})
		case 4:
			list = append(list, withdrawn(rng, kit.Pick(rng, pool...))...)
		default:
			k := kit.Pick(rng, pool...)
			if kit.Maybe(rng, 25) {
				k = kit.SteerKey(rng)
			}
			list = append(list, lookup(k))
		}
	}
	return list[:n]
}

func lookup(k nicspec.SteerKeyFields) kit.Packet {
	b := make([]byte, 8+nicspec.SteerKeySize)
	k.Encode(b[8:])
	return kit.Packet{Data: b}
}

// withdrawn writes a rule that matches a key, and then the same rule as invalid.
func withdrawn(rng *rand.Rand, k nicspec.SteerKeyFields) []kit.Packet {
	f, i := kit.Direction(rng), ruleIndex(rng)
	k.Encode(f.Value[:])
	f.Mask[rng.IntN(len(f.Mask))] = 0xff
	write := func(valid uint8) kit.Packet {
		b := make([]byte, nicspec.RuleEntrySize)
		f.Valid = valid
		f.Encode(b)
		return kit.TableRequest(SteerTable, nicspec.TableRule, i, b)
	}
	return []kit.Packet{write(1), lookup(k), write(0), lookup(k)}
}

func ruleIndex(rng *rand.Rand) int {
	if kit.Maybe(rng, 80) {
		return rng.IntN(5)
	}
	return rng.IntN(nicspec.DefaultBuild().NumRules)
}

func ruleCommand(rng *rand.Rand, pool []nicspec.SteerKeyFields) kit.Packet {
	i := ruleIndex(rng)
	if kit.Maybe(rng, 20) {
		return kit.TableRequest(SteerTable, nicspec.TableRule, i, nil)
	}
	f := kit.Direction(rng)
	k := kit.Pick(rng, pool...)
	k.Encode(f.Value[:])
	for range rng.IntN(4) { // bytes that the rule compares
		f.Mask[rng.IntN(len(f.Mask))] = uint8(kit.Pick(rng, 0xff, rng.IntN(256)))
	}
	if kit.Maybe(rng, 30) { // flip a bit of the value, whether or not the rule compares it
		f.Value[rng.IntN(len(f.Value))] ^= 1 << rng.IntN(8)
	}
	if f.Action != nicspec.ActionRss && kit.Maybe(rng, 20) {
		f.RssLog = uint8(rng.Uint32())
	}
	switch rng.IntN(14) {
	case 0:
		f.Valid = uint8(rng.IntN(3))
	case 1:
		f.Action = nicspec.Action(rng.IntN(5))
	case 2:
		f.Queue = uint16(kit.Pick(rng, 63, 64, 255, 256, int(rng.Uint32()&0xffff)))
	case 3:
		f.AccountEn, f.Account = uint8(rng.IntN(3)), uint8(kit.Pick(rng, 63, 64, 255))
	case 4:
		f.SlowQueue = uint16(kit.Pick(rng, 63, 64, int(rng.Uint32()&0xffff)))
	case 5:
		f.RssLog = uint8(rng.IntN(16))
	}
	b := make([]byte, nicspec.RuleEntrySize)
	f.Encode(b)
	copy(b[nicspec.RuleEntrySize-7:], kit.Noise(rng, 7)) // reserved bytes are ignored
	return kit.TableRequest(SteerTable, nicspec.TableRule, i, b)
}

func SteerReference() func(kit.Packet) []kit.Packet {
	regs := kit.NewRegs()
	return func(req kit.Packet) []kit.Packet {
		b := req.Data
		res := make([]byte, 18)
		switch res[0] = b[0]; b[0] {
		case SteerTable:
			return []kit.Packet{kit.TableAnswer(regs, req)}
		case steerHit:
			regs.Hit(int(b[1]))
		case steerRead:
			for half := range uint32(2) {
				kit.LittleEndian.PutUint32(res[10+4*half:], regs.Read32(nicspec.RegRuleHitsBase+8*uint32(b[1])+4*half))
			}
		default:
			k := nicspec.DecodeSteerKey(b[8:])
			c := regs.Config()
			var v core.RxVerdict
			c.Steer(int(k.Port), kit.HeadersOf(&k), &v)
			steered(res, &v)
		}
		return []kit.Packet{{Data: res}}
	}
}

// steered fills in the fields of a result that the matching rule determines.
func steered(res []byte, v *core.RxVerdict) {
	rule, hit := v.Hit()
	if !hit {
		return
	}
	res[1], res[2] = 1, uint8(rule)
	if v.Drop != core.NoDrop {
		return
	}
	res[3] = uint8(nicspec.ActionQueue)
	queue := v.Queue
	if v.Group.On {
		res[3], queue, res[6] = uint8(nicspec.ActionRss), v.Group.Base, v.Group.Log
	}
	kit.LittleEndian.PutUint16(res[4:], queue)
	if v.Account.On {
		res[7], res[8], res[9] = 1, v.Account.ID, uint8(v.Account.Queue)
	}
}
