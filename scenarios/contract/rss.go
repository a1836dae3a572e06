package contract

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
	"nictwin/stack/driver"
)

var rssChecks = []check{
	{"rss/published vectors", "S1 S2", calm, rssVectors},
	{"rss/every bit of the key", "S1 S2", calm, rssKeyBits},
	{"rss/hash of frames by hand", "S1 S2", calm, func(r *rig) { r.rssKeyAt(5); parseByHand(r) }},
	{"rss/hash of frames cut short", "S1 S2", calm, func(r *rig) { r.rssKeyAt(6); cutShort(r) }},
	{"rss/hash of frames damaged at random", "S1 S2", calm, func(r *rig) { r.rssKeyAt(7); damaged(r) }},
	{"rss/groups of rules", "S3 R5 R7", stalled, rssRules},
	{"rss/groups of the default", "S3", stalled, rssDefault},
	{"rss/values", "S5 G6", calm, rssValues},
	{"rss/key and table change under traffic", "S4 R6", stalled, rssChanges},
}

// toeplitz is [S1], bit by bit.
func toeplitz(key [nicspec.RssKeyBytes]byte, in []byte) (sum uint32) {
	bit := func(b []byte, i int) uint32 { return uint32(b[i/8]) >> (7 - i%8) & 1 }
	for i := range 8 * len(in) {
		if bit(in, i) == 0 {
			continue
		}
		for k := range 32 {
			sum ^= bit(key[:], i+k) << (31 - k)
		}
	}
	return sum
}

// rssHash is the hash of a frame that was parsed.
func rssHash(key [nicspec.RssKeyBytes]byte, b []byte, f *nicspec.RxCqeFields) uint32 {
	var in []byte
	switch l3 := int(f.L3Off); f.L3Type {
	case nicspec.L3TypeIpv4:
		in = append(in, b[l3+12:l3+20]...)
	case nicspec.L3TypeIpv6:
		in = append(in, b[l3+8:l3+40]...)
	default:
		return 0
	}
	if f.L4Type != nicspec.L4TypeNone && !f.Frag {
		in = append(in, b[f.L4Off:f.L4Off+4]...)
	}
	return toeplitz(key, in)
}

// setRssKey writes the key, and waits until it is in force.
func (r *rig) setRssKey(key [nicspec.RssKeyBytes]byte) {
	r.t.Helper()
	r.rssKey = key
	r.set(r.nic.SetRSSKey(key))
	r.synced()
}

func (r *rig) rssKeyAt(seed uint64) {
	r.t.Helper()
	r.setRssKey([nicspec.RssKeyBytes]byte(pattern(nicspec.RssKeyBytes, seed)))
}

// The key and four of the flows that Microsoft publishes for the verification of RSS, with the hash over addresses and that
// over addresses and ports.
var (
	vectorKey = [nicspec.RssKeyBytes]byte{
		0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
		0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
	}
	vectors = []struct {
		src, dst     []byte
		sport, dport uint16
		bare, ports  uint32
	}{
		{[]byte{66, 9, 149, 187}, []byte{161, 142, 100, 80}, 2794, 1766, 0x323e8fc2, 0x51ccc178},
		{[]byte{199, 92, 111, 2}, []byte{65, 69, 140, 83}, 14230, 4739, 0xd718262a, 0xc626b0ea},
		{[]byte{0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7},
			[]byte{0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, 0, 0, 0, 0, 0, 0, 0, 1}, 2794, 1766, 0x2cc18cd5, 0x40207d3d},
		{[]byte{0x3f, 0xfe, 0x05, 0x01, 0, 8, 0, 0, 0x02, 0x60, 0x97, 0xff, 0xfe, 0x40, 0xef, 0xab},
			[]byte{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 14230, 4739, 0x0f0c461c, 0xdde51bbf},
	}
)

func rssVectors(r *rig) {
	r.setRssKey(vectorKey)
	x := r.openRx(1, 6, nil)
	r.post(x, 40)
	r.receiveAll(1)
	for _, v := range vectors {
		for _, proto := range []uint8{protoTCP, protoUDP, 50} {
			p := pkt{l3: 4, proto: proto, sport: v.sport, dport: v.dport, payload: 60, ttl: 9}
			if len(v.src) == 16 {
				p.l3 = 6
			}
			f := p.build()
			at := p.l3Off() + map[int]int{4: 12, 6: 8}[p.l3]
			copy(f[at:], v.src)
			copy(f[at+len(v.src):], v.dst)
			first := r.ordinal()
			r.play(f)
			want := v.ports
			if proto == 50 {
				want = v.bare
			}
			require.Equal(r.t, want, r.delivered(x, first, nicspec.RuleNone).RssHash(), "the published hash of %v to %v, protocol %d", v.src, v.dst, proto)
		}
	}
}

// rssKeyBits sends the same frame under keys of which one bit is set.
func rssKeyBits(r *rig) {
	p := pkt{l3: 6, proto: protoTCP, sport: 0xffff, dport: 0xffff, payload: 60}
	f := p.build()
	for i := range 32 {
		f[p.l3Off()+8+i] = 0xff
	}
	x := r.openRx(1, 9, nil)
	r.post(x, 320)
	r.receiveAll(1)
	for bit := 0; bit < 8*nicspec.RssKeyBytes; bit += 1 + bit%3 {
		var key [nicspec.RssKeyBytes]byte
		key[bit/8] = 0x80 >> (bit % 8)
		r.setRssKey(key)
		first := r.ordinal()
		r.play(f)
		r.delivered(x, first, nicspec.RuleNone)
	}
}

// indirection writes an entry of table Indirection.
func (r *rig) indirection(index, q int) {
	r.t.Helper()
	r.commit(nicspec.TableIndirection, index, encode(&nicspec.IndirectionEntryFields{Queue: uint16(q)}, nicspec.IndirectionEntrySize))
	r.indir[index] = q
}

// spread opens queues and fills the table: entries that no frame is to come to name a queue that is off.
func (r *rig) spread(queues int, entries map[int]bool) []*rxRing {
	r.t.Helper()
	var rings []*rxRing
	for q := range queues {
		x := r.openRx(q+1, 7, nil)
		r.post(x, 100)
		rings = append(rings, x)
	}
	for i := range nicspec.RssEntries {
		q := 0
		if entries[i] {
			q = 1 + i*7%queues
		}
		if r.indir[i] != q {
			r.indirection(i, q)
		}
	}
	return rings
}

// flow is a frame whose hash differs from that of others.
func flow(i int) []byte {
	p := udpPacket(20)
	p.l3 = []int{4, 6}[i%2]
	p.src, p.dst, p.sport, p.dport = uint8(i), uint8(i>>3), uint16(i*31), uint16(i*57)
	return p.build()
}

// group has frames go where a group of the table says.
func (r *rig) group(rings []*rxRing, base, log, rule, n int) {
	r.t.Helper()
	first := r.ordinal()
	for i := range n {
		r.play(flow(first + i))
	}
	for i := range n {
		f := parsed(flow(first+i), r.roce)
		q := r.indir[(base+int(rssHash(r.rssKey, flow(first+i), &f)&(1<<log-1)))%nicspec.RssEntries]
		x := rings[q-1]
		r.delivered(x, first+i, uint16(rule))
		r.post(x, 1)
	}
	for _, x := range rings {
		r.nothing(&x.ring)
	}
}

// entriesOf is the entries of a group.
func entriesOf(base, log int) map[int]bool {
	all := map[int]bool{}
	for i := range 1 << log {
		all[(base+i)%nicspec.RssEntries] = true
	}
	return all
}

func rssRules(r *rig) {
	r.rssKeyAt(1)
	r.write(nicspec.RegCtrl, 1)
	for _, g := range []struct{ base, log int }{{0, 0}, {255, 0}, {17, 1}, {254, 3}, {100, 6}, {200, 7}, {1, 8}} {
		rings := r.spread(3, entriesOf(g.base, g.log))
		r.rule(5, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionRss, Queue: uint16(g.base), RssLog: uint8(g.log)})
		r.group(rings, g.base, g.log, 5, 40)
		for q := range 3 {
			r.disable(nicspec.TableRxq, q+1)
		}
	}
	// A group that leads to a queue that is off.
	r.rule(5, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionRss, Queue: 9, RssLog: 0})
	r.indirection(9, 2)
	r.dropped("a group's queue is off", nicspec.CntRxDropQueueOff, flow(1), flow(2))
}

func rssDefault(r *rig) {
	r.rssKeyAt(2)
	r.write(nicspec.RegCtrl, 1)
	rings := r.spread(4, entriesOf(0, 8))
	for _, g := range []struct{ base, log int }{{0, 0}, {3, 2}, {250, 5}, {77, 8}, {5, 9}, {130, 15}, {0xff07, 1}} {
		r.toTarget(driver.ToGroup(g.base, g.log))
		r.synced()
		r.group(rings, g.base, min(g.log, nicspec.RssLogMax), nicspec.RuleNone, 40)
	}
	require.Zero(r.t, r.counters()[port(nicspec.CntRxDropNoRule)])
}

func rssValues(r *rig) {
	for _, c := range []struct {
		index, q int
		want     nicspec.TableStatus
	}{
		{0, 0, tblOk}, {255, r.sizes.NumRxq - 1, tblOk}, {1, r.sizes.NumRxq, tblBad}, {255, 0xffff, tblBad}, {256, 0, nicspec.TableStatusBadIndex},
	} {
		e := encode(&nicspec.IndirectionEntryFields{Queue: uint16(c.q)}, nicspec.IndirectionEntrySize)
		e[2], e[3] = 0xff, 0xff // reserved
		require.Equal(r.t, c.want, r.command(nicspec.TableOpWrite, nicspec.TableIndirection, c.index, e), "entry %d, queue %d", c.index, c.q)
		if c.want == tblOk {
			require.EqualValues(r.t, c.q, binary.LittleEndian.Uint32(r.entry(nicspec.TableIndirection, c.index)), "entry %d", c.index)
		}
	}
	for _, c := range []struct {
		queue, log int
		want       nicspec.TableStatus
	}{{0, 0, tblOk}, {255, 8, tblOk}, {256, 0, tblBad}, {0, 9, tblBad}, {0, 255, tblBad}, {0xffff, 3, tblBad}} {
		f := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionRss, Queue: uint16(c.queue), RssLog: uint8(c.log)}
		require.Equal(r.t, c.want, r.command(nicspec.TableOpWrite, nicspec.TableRule, 3, encode(&f, nicspec.RuleEntrySize)), "queue %d, rss_log %d", c.queue, c.log)
	}
}

// rssChanges rewrites words of the key and entries of the table while frames come: which they see, within the window, is for
// the referee to follow; what comes later sees the new ones.
func rssChanges(r *rig) {
	rng := rand.New(rand.NewPCG(31, 9))
	r.rssKeyAt(3)
	rings := r.spread(3, entriesOf(0, 8))
	r.toTarget(driver.ToGroup(0, 8))
	r.write(nicspec.RegCtrl, 1)
	r.synced()
	for round := range 12 {
		for i := range 20 {
			r.play(flow(round*20 + i))
		}
		if round%2 == 0 {
			w, v := rng.IntN(nicspec.RssKeyBytes/4), rng.Uint32()
			binary.LittleEndian.PutUint32(r.rssKey[4*w:], v)
			r.write(nicspec.RegRssKey(w), v)
		} else {
			for range 3 {
				r.indirection(rng.IntN(nicspec.RssEntries), 1+rng.IntN(3))
			}
		}
		r.quiet()
		for _, x := range rings {
			for r.next(&x.ring) != nil {
				r.post(x, 1)
			}
		}
		r.group(rings, 0, 8, nicspec.RuleNone, 8)
	}
}
