package receive

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/stack/driver"
)

// RssChecks distribute frames by hash [S].
var RssChecks = []kit.Check{
	{Name: "rss/published vectors", Rules: "S1 S2", Stalls: kit.Calm, Run: rssVectors},
	{Name: "rss/every bit of the key", Rules: "S1 S2", Stalls: kit.Calm, Run: rssKeyBits},
	{Name: "rss/hash of frames by hand", Rules: "S1 S2", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { rssKeyAt(r, 5); ParseByHand(r) }},
	{Name: "rss/hash of frames cut short", Rules: "S1 S2", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { rssKeyAt(r, 6); CutShort(r) }},
	{Name: "rss/hash of frames damaged at random", Rules: "S1 S2", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { rssKeyAt(r, 7); Damaged(r) }},
	{Name: "rss/groups of rules", Rules: "S3 R5 R7", Stalls: kit.Stalled, Run: rssRules},
	{Name: "rss/groups of the default", Rules: "S3", Stalls: kit.Stalled, Run: rssDefault},
	{Name: "rss/values", Rules: "S5 G6", Stalls: kit.Calm, Run: rssValues},
	{Name: "rss/key and table change under traffic", Rules: "S4 R6", Stalls: kit.Stalled, Run: rssChanges},
}

// setRssKey writes the key, and waits until it has taken effect.
func setRssKey(r *kit.Rig, key [nicspec.RssKeyBytes]byte) {
	r.T.Helper()
	r.RssKey = key
	r.Set(r.NIC.SetRSSKey(key))
	r.Synced()
}

func rssKeyAt(r *kit.Rig, seed uint64) {
	r.T.Helper()
	setRssKey(r, [nicspec.RssKeyBytes]byte(kit.Pattern(nicspec.RssKeyBytes, seed)))
}

// The key and four of the flows that Microsoft publishes to verify RSS, each with the hash over addresses and the hash
// over addresses and ports.
var (
	vectorKey = [nicspec.RssKeyBytes]byte{
		0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca,
		0x2b, 0xcb,
		0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac,
		0x01, 0xfa,
	}
	vectors = []struct {
		src, dst     []byte
		sport, dport uint16
		bare, ports  uint32
	}{
		{[]byte{66, 9, 149, 187}, []byte{161, 142, 100, 80}, 2794, 1766, 0x323e8fc2, 0x51ccc178},
		{[]byte{199, 92, 111, 2}, []byte{65, 69, 140, 83}, 14230, 4739, 0xd718262a, 0xc626b0ea},
		{[]byte{0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7},
			[]byte{0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, 0, 0, 0, 0, 0, 0, 0, 1}, 2794, 1766, 0x2cc18cd5,
			0x40207d3d},
		{[]byte{0x3f, 0xfe, 0x05, 0x01, 0, 8, 0, 0, 0x02, 0x60, 0x97, 0xff, 0xfe, 0x40, 0xef, 0xab},
			[]byte{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 14230, 4739, 0x0f0c461c, 0xdde51bbf},
	}
)

func rssVectors(r *kit.Rig) {
	setRssKey(r, vectorKey)
	x := r.OpenRx(1, 6, nil)
	r.Post(x, 40)
	r.ReceiveAll(1)
	for _, v := range vectors {
		for _, proto := range []uint8{kit.ProtoTCP, kit.ProtoUDP, 50} {
			p := kit.Packet{L3: 4, Proto: proto, Sport: v.sport, Dport: v.dport, Payload: 60, Ttl: 9}
			if len(v.src) == 16 {
				p.L3 = 6
			}
			f := p.Build()
			at := p.L3Off() + map[int]int{4: 12, 6: 8}[p.L3]
			copy(f[at:], v.src)
			copy(f[at+len(v.src):], v.dst)
			first := r.Ordinal()
			r.Play(f)
			want := v.ports
			if proto == 50 {
				want = v.bare
			}
			require.Equal(r.T, want, r.Delivered(x, first, nicspec.RuleNone).RssHash(),
				"the published hash of %v to %v, protocol %d", v.src, v.dst, proto)
		}
	}
}

// rssKeyBits plays the same frame under keys with a single bit set.
func rssKeyBits(r *kit.Rig) {
	p := kit.Packet{L3: 6, Proto: kit.ProtoTCP, Sport: 0xffff, Dport: 0xffff, Payload: 60}
	f := p.Build()
	for i := range 32 {
		f[p.L3Off()+8+i] = 0xff
	}
	x := r.OpenRx(1, 9, nil)
	r.Post(x, 320)
	r.ReceiveAll(1)
	for bit := 0; bit < 8*nicspec.RssKeyBytes; bit += 1 + bit%3 {
		var key [nicspec.RssKeyBytes]byte
		key[bit/8] = 0x80 >> (bit % 8)
		setRssKey(r, key)
		first := r.Ordinal()
		r.Play(f)
		r.Delivered(x, first, nicspec.RuleNone)
	}
}

// indirection writes an entry of table Indirection.
func indirection(r *kit.Rig, index, q int) {
	r.T.Helper()
	r.Commit(nicspec.TableIndirection, index, kit.Encode(&nicspec.IndirectionEntryFields{Queue: uint16(q)},
		nicspec.IndirectionEntrySize))
	r.Indir[index] = q
}

// spread opens queues and fills table Indirection: the given entries name these queues. No frame may select any other
// entry; those name a disabled queue.
func spread(r *kit.Rig, queues int, entries map[int]bool) []*kit.RxRing {
	r.T.Helper()
	var rings []*kit.RxRing
	for q := range queues {
		x := r.OpenRx(q+1, 7, nil)
		r.Post(x, 100)
		rings = append(rings, x)
	}
	for i := range nicspec.RssEntries {
		q := 0
		if entries[i] {
			q = 1 + i*7%queues
		}
		if r.Indir[i] != q {
			indirection(r, i, q)
		}
	}
	return rings
}

// flow returns a frame of flow i, whose hash differs from those of other flows.
func flow(i int) []byte {
	p := kit.UDPPacket(20)
	p.L3 = []int{4, 6}[i%2]
	p.Src, p.Dst, p.Sport, p.Dport = uint8(i), uint8(i>>3), uint16(i*31), uint16(i*57)
	return p.Build()
}

// group checks that frames go to the queues that a group of entries in table Indirection names.
func group(r *kit.Rig, rings []*kit.RxRing, base, log, rule, n int) {
	r.T.Helper()
	first := r.Ordinal()
	for i := range n {
		r.Play(flow(first + i))
	}
	for i := range n {
		f := kit.Parsed(flow(first+i), r.Roce)
		q := r.Indir[(base+int(kit.RSSHash(r.RssKey, flow(first+i), &f)&(1<<log-1)))%nicspec.RssEntries]
		x := rings[q-1]
		r.Delivered(x, first+i, uint16(rule))
		r.Post(x, 1)
	}
	for _, x := range rings {
		r.Nothing(&x.Ring)
	}
}

// entriesOf returns the table entries of a group.
func entriesOf(base, log int) map[int]bool {
	all := map[int]bool{}
	for i := range 1 << log {
		all[(base+i)%nicspec.RssEntries] = true
	}
	return all
}

func rssRules(r *kit.Rig) {
	rssKeyAt(r, 1)
	r.Write(nicspec.RegCtrl, 1)
	for _, g := range []struct{ base, log int }{{0, 0}, {255, 0}, {17, 1}, {254, 3}, {100, 6}, {200, 7}, {1, 8}} {
		rings := spread(r, 3, entriesOf(g.base, g.log))
		r.Rule(5, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionRss, Queue: uint16(g.base),
			RssLog: uint8(g.log)})
		group(r, rings, g.base, g.log, 5, 40)
		for q := range 3 {
			r.Disable(nicspec.TableRxq, q+1)
		}
	}
	// The group's entries lead to a disabled queue.
	r.Rule(5, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionRss, Queue: 9, RssLog: 0})
	indirection(r, 9, 2)
	r.Dropped("a group's queue is off", nicspec.CntRxDropQueueOff, flow(1), flow(2))
}

func rssDefault(r *kit.Rig) {
	rssKeyAt(r, 2)
	r.Write(nicspec.RegCtrl, 1)
	rings := spread(r, 4, entriesOf(0, 8))
	for _, g := range []struct{ base, log int }{{0, 0}, {3, 2}, {250, 5}, {77, 8}, {5, 9}, {130, 15}, {0xff07, 1}} {
		r.ToTarget(driver.ToGroup(g.base, g.log))
		r.Synced()
		group(r, rings, g.base, min(g.log, nicspec.RssLogMax), nicspec.RuleNone, 40)
	}
	require.Zero(r.T, r.Counters()[kit.PortCounter(nicspec.CntRxDropNoRule)])
}

func rssValues(r *kit.Rig) {
	for _, c := range []struct {
		index, q int
		want     nicspec.TableStatus
	}{
		{0, 0, kit.TableOk}, {255, r.Sizes.NumRxq - 1, kit.TableOk}, {1, r.Sizes.NumRxq, kit.TableBad},
		{255, 0xffff, kit.TableBad}, {256, 0, nicspec.TableStatusBadIndex},
	} {
		e := kit.Encode(&nicspec.IndirectionEntryFields{Queue: uint16(c.q)}, nicspec.IndirectionEntrySize)
		e[2], e[3] = 0xff, 0xff // reserved
		require.Equal(r.T, c.want, r.Command(nicspec.TableOpWrite, nicspec.TableIndirection, c.index, e),
			"entry %d, queue %d", c.index, c.q)
		if c.want == kit.TableOk {
			require.EqualValues(r.T, c.q, binary.LittleEndian.Uint32(r.Entry(nicspec.TableIndirection, c.index)),
				"entry %d", c.index)
		}
	}
	for _, c := range []struct {
		queue, log int
		want       nicspec.TableStatus
	}{{0, 0, kit.TableOk}, {255, 8, kit.TableOk}, {256, 0, kit.TableBad}, {0, 9, kit.TableBad}, {0, 255, kit.TableBad},
		{0xffff, 3, kit.TableBad}} {
		f := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionRss, Queue: uint16(c.queue), RssLog: uint8(c.log)}
		require.Equal(r.T, c.want,
			r.Command(nicspec.TableOpWrite, nicspec.TableRule, 3, kit.Encode(&f, nicspec.RuleEntrySize)),
			"queue %d, rss_log %d", c.queue, c.log)
	}
}

// rssChanges rewrites words of the key and entries of the table while frames arrive. The referee decides which values
// frames near a write may see; later frames must see the new ones.
func rssChanges(r *kit.Rig) {
	rng := rand.New(rand.NewPCG(31, 9))
	rssKeyAt(r, 3)
	rings := spread(r, 3, entriesOf(0, 8))
	r.ToTarget(driver.ToGroup(0, 8))
	r.Write(nicspec.RegCtrl, 1)
	r.Synced()
	for round := range 12 {
		for i := range 20 {
			r.Play(flow(round*20 + i))
		}
		if round%2 == 0 {
			w, v := rng.IntN(nicspec.RssKeyBytes/4), rng.Uint32()
			binary.LittleEndian.PutUint32(r.RssKey[4*w:], v)
			r.Write(nicspec.RegRssKey(w), v)
		} else {
			for range 3 {
				indirection(r, rng.IntN(nicspec.RssEntries), 1+rng.IntN(3))
			}
		}
		r.Quiet()
		for _, x := range rings {
			for r.Next(&x.Ring) != nil {
				r.Post(x, 1)
			}
		}
		group(r, rings, 0, 8, nicspec.RuleNone, 8)
	}
}
