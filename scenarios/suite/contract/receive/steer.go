package receive

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// SteerChecks steer frames by rules.
var SteerChecks = []kit.Check{
	{Name: "steer/every field of the key", Rules: "R5 H11", Stalls: kit.Calm, Run: everyKeyField},
	{Name: "steer/every bit of the key", Rules: "R5 H11", Stalls: kit.Calm, Run: everyKeyBit},
	{Name: "steer/masks", Rules: "R5", Stalls: kit.Calm, Run: masks},
	{Name: "steer/priority and hits", Rules: "R5 G5", Stalls: kit.Stalled, Run: priority},
	{Name: "steer/rules change under traffic", Rules: "R6 G6", Stalls: kit.Stalled, Run: rulesChange},
	{Name: "steer/a rule is seen whole", Rules: "R6 G6", Stalls: kit.Calm, Run: rulesWhole},
	{Name: "steer/registers change under traffic", Rules: "R6 G4", Stalls: kit.Stalled, Run: registersChange},
}

// keyFrames returns frames that together fill every part of the key.
func keyFrames() [][]byte {
	roce := kit.RocePacket(50)
	roce.Tags, roce.Tos, roce.Op, roce.Dmac = []uint32{kit.TpidS<<16 | 0xa123, kit.TpidC<<16 | 0x0456}, 0x9c, 0x2b,
		[6]byte{0xde, 0xad, 0xbe, 0xef, 1, 2}
	tcp := kit.Packet{L3: 6, Proto: kit.ProtoTCP, Sport: 0xa1b2, Dport: 0xc3d4, Tos: 0x63, Payload: 20, Src: 0x81,
		Dst: 0x7e, Tags: []uint32{kit.TpidC<<16 | 0x8fff}}
	frag := kit.Packet{L3: 4, Proto: 99, Frag: 0x2001, IPLen: 500, Payload: 60, Tos: 0xff}
	bad := kit.UDPPacket(60)
	bad.UDPLen, bad.Sport, bad.Dport = 4, 0xffff, 1
	return [][]byte{roce.Build(), tcp.Build(), frag.Build(), bad.Build(), kit.Blob(80, 5)}
}

// matches plays a frame for which the only rule, with action Drop, may match, and reports whether it matched.
func matches(r *kit.Rig, frame []byte) bool {
	r.T.Helper()
	before := r.Player(0).Sent()
	hit, miss := drops(r)
	r.Play(frame)
	r.Until("the frame is played", func() bool { return r.Player(0).Sent() > before })
	taken := false
	r.Until("the frame is counted", func() bool {
		h, m := drops(r)
		taken = h > hit
		return h+m > hit+miss
	})
	return taken
}

// drops reads the adjacent counters RX_DROP_RULE and RX_DROP_NO_RULE.
func drops(r *kit.Rig) (rule, none uint64) {
	r.T.Helper()
	left := 2
	r.ReadLater(nicspec.RegCounter(r.CounterOf(kit.PortCounter(nicspec.CntRxDropRule))), 8, func(v uint64) {
		rule = v
		left--
	})
	r.ReadLater(nicspec.RegCounter(r.CounterOf(kit.PortCounter(nicspec.CntRxDropNoRule))), 8, func(v uint64) {
		none = v
		left--
	})
	r.Until("counters are read", func() bool { return left == 0 })
	return rule, none
}

// everyKeyField writes a rule that compares one field of the key: it must match if the field is right, and not if it is
// wrong.
func everyKeyField(r *kit.Rig) {
	r.Write(nicspec.RegCtrl, 1)
	for n, frame := range keyFrames() {
		f := kit.Parsed(frame, r.Roce)
		key := kit.SteerKey(frame, &f, r.PortOf(0))
		for i, field := range nicspec.SteerKeyInfo.Fields {
			rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
			for bit := field.Bit; bit < field.Bit+field.Width; bit++ {
				rule.Mask[bit/8] |= 1 << (bit % 8)
			}
			for k := range rule.Value {
				rule.Value[k] = key[k]&rule.Mask[k] | 0x5a&^rule.Mask[k] // bits outside the mask may have any value
			}
			index := (i*3 + n) % r.Sizes.NumRules
			r.Rule(index, rule)
			require.True(r.T, matches(r, frame), "frame %d, %s is right", n, field.Name)
			wrong := field.Bit + (i+n)%field.Width
			rule.Value[wrong/8] ^= 1 << (wrong % 8)
			r.Rule(index, rule)
			require.False(r.T, matches(r, frame), "frame %d, bit %d of %s is wrong", n, wrong-field.Bit, field.Name)
			r.Rule(index, nicspec.RuleEntryFields{})
		}
	}
}

// everyKeyBit writes a rule for each bit of the key, as many at a time as there are rules, each with only that bit
// wrong: no rule may match a frame. Then all are corrected, and the lowest must match.
func everyKeyBit(r *kit.Rig) {
	r.Write(nicspec.RegCtrl, 1)
	frame := keyFrames()[0]
	f := kit.Parsed(frame, r.Roce)
	key := kit.SteerKey(frame, &f, r.PortOf(0))
	for base := 0; base < 8*nicspec.SteerKeySize; base += r.Sizes.NumRules {
		n := min(r.Sizes.NumRules, 8*nicspec.SteerKeySize-base)
		for i := range n {
			rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
			bit := base + i
			copy(rule.Value[:], key)
			rule.Value[bit/8] ^= 1 << (bit % 8)
			for k := range rule.Mask {
				rule.Mask[k] = 0xff
			}
			r.Rule(i, rule)
		}
		require.False(r.T, matches(r, frame), "rules wrong in bits %d to %d", base, base+n-1)
	}
	rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
	copy(rule.Value[:], key)
	for k := range rule.Mask {
		rule.Mask[k] = 0xff
	}
	r.Rule(3, rule)
	require.True(r.T, matches(r, frame), "a rule that is right in every bit, reserved ones included")
}

func masks(r *kit.Rig) {
	r.Write(nicspec.RegCtrl, 1)
	frame := keyFrames()[1]
	rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
	copy(rule.Value[:], kit.Pattern(nicspec.SteerKeySize, 5))
	r.Rule(r.Sizes.NumRules-1, rule)
	require.True(r.T, matches(r, frame), "a mask of zeros matches everything")
	rule.Valid = 0
	r.Rule(r.Sizes.NumRules-1, rule)
	require.False(r.T, matches(r, frame), "a rule that is not valid matches nothing")
	rule = nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
	rule.Value[3], rule.Mask[3] = 0xfc, 0xfc // these bits of the key are reserved and always 0
	r.Rule(0, rule)
	require.False(r.T, matches(r, frame), "reserved bits of the key are 0")
	rule.Value[3] = 0
	r.Rule(0, rule)
	require.True(r.T, matches(r, frame), "reserved bits of the key are 0")
}

// priority uses overlapping rules: the lowest valid one must match, and count the frame.
func priority(r *kit.Rig) {
	n := r.Sizes.NumRules
	order := []int{n - 1, 9, 0, 8, n / 2, 7, 1}
	hits := map[int]uint64{}
	r.Write(nicspec.RegCtrl, 1)
	rings := map[int]*kit.RxRing{}
	low := n
	for i, index := range order {
		low = min(low, index)
		rings[index] = r.OpenRx(i+1, 2, nil)
		r.Post(rings[index], 4)
		r.Rule(index, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: uint16(i + 1)})
		first := r.Ordinal()
		r.Play(kit.Blob(70+i, 1), kit.Blob(90+i, 2))
		r.Delivered(rings[low], first, uint16(low))
		r.Delivered(rings[low], first+1, uint16(low))
		hits[low] += 2
		r.Post(rings[low], 2)
	}
	r.Quiet()
	for i := range n {
		require.Equal(r.T, hits[i], r.Read2(nicspec.RegRuleHits(i)), "hits of rule %d", i)
	}
	for i := n; i < nicspec.RegRuleHitsCount; i += 37 {
		require.Zero(r.T, r.Read2(nicspec.RegRuleHits(i)), "rule %d, beyond the build", i)
	}
	half := r.Read(nicspec.RegRuleHits(0)) // read in two halves
	require.EqualValues(r.T, hits[0], half)
	require.Zero(r.T, r.Read(nicspec.RegRuleHits(0)+4))
}

// rulesChange rewrites a rule while frames arrive. Each must be steered by the old or the new value, and by the new one
// after a read has shown that the command is done.
func rulesChange(r *kit.Rig) {
	a, b := r.OpenRx(1, 9, nil), r.OpenRx(2, 9, nil)
	r.Post(a, 400)
	r.Post(b, 400)
	r.Write(nicspec.RegCtrl, 1)
	r.Rule(4, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: 1})
	for i := range 12 {
		for k := range 20 {
			r.Play(kit.Blob(60+k*9, uint64(k)))
		}
		r.Rule(4, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: uint16(1 + (i+1)%2)})
		after := r.Ordinal()
		r.Played()
		to := []*kit.RxRing{a, b}[(i+1)%2]
		r.Play(kit.Blob(333, 1))
		r.Quiet()
		var last nicspec.RxCqe
		for e := r.Next(&to.Ring); e != nil; e = r.Next(&to.Ring) {
			last = e
		}
		require.NotNil(r.T, last)
		require.EqualValues(r.T, after, last.PortSeq(), "last frame to the new rule's queue, played after the command")
	}
}

// rulesWhole plays a frame a cycle while a write changes both the match and the queue of a rule. Each frame must see
// the old rule or the new one, never the match of one with the queue of the other.
func rulesWhole(r *kit.Rig) {
	const n = 400
	mine, others := r.OpenRx(1, 9, nil), r.OpenRx(2, 9, nil)
	rest := r.OpenRx(3, 9, nil)
	r.Post(others, 1)
	r.ReceiveAll(3)
	for i := range 8 {
		q := 1 + i%2
		f := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: uint16(q)}
		f.Value[13], f.Mask[13] = uint8(q), 0xff
		for _, x := range []*kit.RxRing{mine, rest} {
			r.Post(x, n-int(x.PI-x.CQI))
		}
		for range n {
			r.Play(kit.FrameTo(1, kit.FrameOf(60)))
		}
		r.Run(10 * i)
		r.Rule(0, f)
		r.Quiet()
		for _, x := range []*kit.RxRing{mine, rest} {
			for r.Next(&x.Ring) != nil {
			}
		}
		require.Nil(r.T, r.Next(&others.Ring), "a frame of neither the old nor the new rule")
	}
}

// registersChange rewrites RX_CTRL, RX_DEFAULT and CTRL while frames arrive. Each frame must see the old or the new
// value, and the new one once the write has taken effect.
func registersChange(r *kit.Rig) {
	x := r.OpenRx(1, 10, nil)
	r.Post(x, 500)
	r.ReceiveAll(1)
	for i := range 24 {
		for k := range 12 {
			r.Play(kit.Spoiled(k%2 == 0, k%3 == 0, k%5 == 0))
		}
		switch v := uint32(i); i % 4 {
		case 0:
			r.Write(nicspec.RegRxCtrl, v/4%8)
		case 1:
			r.Write(nicspec.RegRxDefault, 1<<16|v/4%2)
		case 2:
			r.Write(nicspec.RegCtrl, v/4%2)
		default:
			r.Write(nicspec.RegRxCtrl, 0)
			r.Write(nicspec.RegCtrl, 1)
			r.ToQueue(1)
			r.Played()
			r.Synced()
			n, before := r.Ordinal(), r.Counters()
			r.Play(kit.Spoiled(true, true, true))
			r.Quiet()
			r.Moved(fmt.Sprintf("frame %d, settings as they were", n), before,
				kit.Arrived(kit.Spoiled(true, true, true)).Taken(1))
		}
	}
}
