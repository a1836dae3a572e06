package contract

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var steerChecks = []check{
	{"steer/every field of the key", "R5 H11", calm, everyKeyField},
	{"steer/every bit of the key", "R5 H11", calm, everyKeyBit},
	{"steer/masks", "R5", calm, masks},
	{"steer/priority and hits", "R5 G5", stalled, priority},
	{"steer/rules change under traffic", "R6 G6", stalled, rulesChange},
	{"steer/a rule is seen whole", "R6 G6", calm, rulesWhole},
	{"steer/registers change under traffic", "R6 G4", stalled, registersChange},
}

// keyFrames are frames that fill different parts of the key.
func keyFrames() [][]byte {
	roce := rocePacket(50)
	roce.tags, roce.tos, roce.op, roce.dmac = []uint32{tpidS<<16 | 0xa123, tpidC<<16 | 0x0456}, 0x9c, 0x2b, [6]byte{0xde, 0xad, 0xbe, 0xef, 1, 2}
	tcp := pkt{l3: 6, proto: protoTCP, sport: 0xa1b2, dport: 0xc3d4, tos: 0x63, payload: 20, src: 0x81, dst: 0x7e, tags: []uint32{tpidC<<16 | 0x8fff}}
	frag := pkt{l3: 4, proto: 99, frag: 0x2001, ipLen: 500, payload: 60, tos: 0xff}
	bad := udpPacket(60)
	bad.udpLen, bad.sport, bad.dport = 4, 0xffff, 1
	return [][]byte{roce.build(), tcp.build(), frag.build(), bad.build(), blob(80, 5)}
}

// rule writes a rule.
func (r *rig) rule(index int, f nicspec.RuleEntryFields) {
	r.t.Helper()
	r.commit(nicspec.TableRule, index, encode(&f, nicspec.RuleEntrySize))
}

// hits plays a frame that a rule with action Drop takes, or none does, and tells which it was.
func (r *rig) hits(frame []byte) bool {
	r.t.Helper()
	before := r.player(0).Sent()
	hit, miss := r.drops()
	r.play(frame)
	r.until("the frame is played", func() bool { return r.player(0).Sent() > before })
	taken := false
	r.until("the frame is counted", func() bool {
		h, m := r.drops()
		taken = h > hit
		return h+m > hit+miss
	})
	return taken
}

// drops reads RX_DROP_RULE and RX_DROP_NO_RULE, which stand beside each other.
func (r *rig) drops() (rule, none uint64) {
	r.t.Helper()
	left := 2
	r.readLater(nicspec.RegCounter(r.counterOf(port(nicspec.CntRxDropRule))), 8, func(v uint64) { rule = v; left-- })
	r.readLater(nicspec.RegCounter(r.counterOf(port(nicspec.CntRxDropNoRule))), 8, func(v uint64) { none = v; left-- })
	r.until("counters are read", func() bool { return left == 0 })
	return rule, none
}

// everyKeyField lets a rule compare one field of the key: it matches when the field is right, and not when it is wrong.
func everyKeyField(r *rig) {
	r.write(nicspec.RegCtrl, 1)
	for n, frame := range keyFrames() {
		f := parsed(frame, r.roce)
		key := steerKey(frame, &f, r.portOf(0))
		for i, field := range nicspec.SteerKeyInfo.Fields {
			rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
			for bit := field.Bit; bit < field.Bit+field.Width; bit++ {
				rule.Mask[bit/8] |= 1 << (bit % 8)
			}
			for k := range rule.Value {
				rule.Value[k] = key[k]&rule.Mask[k] | 0x5a&^rule.Mask[k] // what the mask leaves out may be anything
			}
			index := (i*3 + n) % r.sizes.NumRules
			r.rule(index, rule)
			require.True(r.t, r.hits(frame), "frame %d, %s is right", n, field.Name)
			wrong := field.Bit + (i+n)%field.Width
			rule.Value[wrong/8] ^= 1 << (wrong % 8)
			r.rule(index, rule)
			require.False(r.t, r.hits(frame), "frame %d, bit %d of %s is wrong", n, wrong-field.Bit, field.Name)
			r.rule(index, nicspec.RuleEntryFields{})
		}
	}
}

// everyKeyBit loads a rule for each bit of the key, in turns of as many as there are, each wrong in that bit only: none
// matches. Then each is right, and the lowest takes the frame.
func everyKeyBit(r *rig) {
	r.write(nicspec.RegCtrl, 1)
	frame := keyFrames()[0]
	f := parsed(frame, r.roce)
	key := steerKey(frame, &f, r.portOf(0))
	for base := 0; base < 8*nicspec.SteerKeySize; base += r.sizes.NumRules {
		n := min(r.sizes.NumRules, 8*nicspec.SteerKeySize-base)
		for i := range n {
			rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
			bit := base + i
			copy(rule.Value[:], key)
			rule.Value[bit/8] ^= 1 << (bit % 8)
			for k := range rule.Mask {
				rule.Mask[k] = 0xff
			}
			r.rule(i, rule)
		}
		require.False(r.t, r.hits(frame), "rules wrong in bits %d to %d", base, base+n-1)
	}
	rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
	copy(rule.Value[:], key)
	for k := range rule.Mask {
		rule.Mask[k] = 0xff
	}
	r.rule(3, rule)
	require.True(r.t, r.hits(frame), "a rule that is right in every bit, reserved ones included")
}

func masks(r *rig) {
	r.write(nicspec.RegCtrl, 1)
	frame := keyFrames()[1]
	rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
	copy(rule.Value[:], pattern(nicspec.SteerKeySize, 5))
	r.rule(r.sizes.NumRules-1, rule)
	require.True(r.t, r.hits(frame), "a mask of zeros matches everything")
	rule.Valid = 0
	r.rule(r.sizes.NumRules-1, rule)
	require.False(r.t, r.hits(frame), "a rule that is not valid matches nothing")
	rule = nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
	rule.Value[3], rule.Mask[3] = 0xfc, 0xfc // reserved bits of the key are 0
	r.rule(0, rule)
	require.False(r.t, r.hits(frame), "reserved bits of the key are 0")
	rule.Value[3] = 0
	r.rule(0, rule)
	require.True(r.t, r.hits(frame), "reserved bits of the key are 0")
}

// priority has rules that overlap: the lowest that is valid takes a frame and counts it.
func priority(r *rig) {
	n := r.sizes.NumRules
	order := []int{n - 1, 9, 0, 8, n / 2, 7, 1}
	hits := map[int]uint64{}
	r.write(nicspec.RegCtrl, 1)
	rings := map[int]*rxRing{}
	low := n
	for i, index := range order {
		low = min(low, index)
		rings[index] = r.openRx(i+1, 2, nil)
		r.post(rings[index], 4)
		r.rule(index, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: uint16(i + 1)})
		first := r.ordinal()
		r.play(blob(70+i, 1), blob(90+i, 2))
		r.delivered(rings[low], first, uint16(low))
		r.delivered(rings[low], first+1, uint16(low))
		hits[low] += 2
		r.post(rings[low], 2)
	}
	r.quiet()
	for i := range n {
		require.Equal(r.t, hits[i], r.read2(nicspec.RegRuleHits(i)), "hits of rule %d", i)
	}
	for i := n; i < nicspec.RegRuleHitsCount; i += 37 {
		require.Zero(r.t, r.read2(nicspec.RegRuleHits(i)), "rule %d, beyond the build", i)
	}
	half := r.read(nicspec.RegRuleHits(0)) // a half at a time
	require.EqualValues(r.t, hits[0], half)
	require.Zero(r.t, r.read(nicspec.RegRuleHits(0)+4))
}

// rulesChange rewrites a rule while frames come: each goes where one of the two values sends it, and once a read has shown
// that the command is done, where the new one does.
func rulesChange(r *rig) {
	a, b := r.openRx(1, 9, nil), r.openRx(2, 9, nil)
	r.post(a, 400)
	r.post(b, 400)
	r.write(nicspec.RegCtrl, 1)
	r.rule(4, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: 1})
	for i := range 12 {
		for k := range 20 {
			r.play(blob(60+k*9, uint64(k)))
		}
		r.rule(4, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: uint16(1 + (i+1)%2)})
		after := r.ordinal()
		r.played()
		to := []*rxRing{a, b}[(i+1)%2]
		r.play(blob(333, 1))
		r.quiet()
		var last nicspec.RxCqe
		for e := r.next(&to.ring); e != nil; e = r.next(&to.ring) {
			last = e
		}
		require.NotNil(r.t, last)
		require.EqualValues(r.t, after, last.PortSeq(), "a frame after the command goes where the new rule says")
	}
}

// rulesWhole has a frame a cycle come in while a rule changes to match others and to lead them elsewhere: each frame sees it as it
// was or as it is, and none what it matches from before and where it leads from after.
func rulesWhole(r *rig) {
	const n = 400
	mine, others := r.openRx(1, 9, nil), r.openRx(2, 9, nil)
	rest := r.openRx(3, 9, nil)
	r.post(others, 1)
	r.receiveAll(3)
	for i := range 8 {
		q := 1 + i%2
		f := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: uint16(q)}
		f.Value[13], f.Mask[13] = uint8(q), 0xff
		for _, x := range []*rxRing{mine, rest} {
			r.post(x, n-int(x.PI-x.CQI))
		}
		for range n {
			r.play(to(1, frameOf(60)))
		}
		r.run(10 * i)
		r.rule(0, f)
		r.quiet()
		for _, x := range []*rxRing{mine, rest} {
			for r.next(&x.ring) != nil {
			}
		}
		require.Nil(r.t, r.next(&others.ring), "a frame that no rule leads there")
	}
}

// registersChange does so with RX_CTRL, RX_DEFAULT and CTRL.
func registersChange(r *rig) {
	x := r.openRx(1, 10, nil)
	r.post(x, 500)
	r.receiveAll(1)
	for i := range 24 {
		for k := range 12 {
			r.play(spoiled(k%2 == 0, k%3 == 0, k%5 == 0))
		}
		switch v := uint32(i); i % 4 {
		case 0:
			r.write(nicspec.RegRxCtrl, v/4%8)
		case 1:
			r.write(nicspec.RegRxDefault, 1<<16|v/4%2)
		case 2:
			r.write(nicspec.RegCtrl, v/4%2)
		default:
			r.write(nicspec.RegRxCtrl, 0)
			r.write(nicspec.RegCtrl, 1)
			r.toQueue(1)
			r.played()
			r.synced()
			n, before := r.ordinal(), r.counters()
			r.play(spoiled(true, true, true))
			r.quiet()
			r.moved(fmt.Sprintf("frame %d, settings as they were", n), before, arrived(spoiled(true, true, true)).taken(1))
		}
	}
}
