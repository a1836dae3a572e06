package golden

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
)

// rxParts are the parts of the receive side.
const rxParts = nicspec.PartRss

// rssRule spreads frames, by the first byte of their destination address, over
// a group of the indirection table.
func rssRule(v uint8, base, log int) nicspec.RuleEntryFields {
	f := dmacRule(v, nicspec.ActionRss, base)
	f.RssLog = uint8(log)
	return f
}

func (m *memory) indirection(i, queue int) {
	var b [nicspec.IndirectionEntrySize]byte
	(&nicspec.IndirectionEntryFields{Queue: uint16(queue)}).Encode(b[:])
	require.Equal(m.rig.t, nicspec.TableStatusOk, m.table(nicspec.TableOpWrite, nicspec.TableIndirection, i, b[:]))
}

// rssKey writes the whole key.
func (m *memory) rssKey(seed uint64) {
	key := pattern(nicspec.RssKeyBytes, seed)
	for i := range nicspec.RegRssKeyCount {
		m.write(nicspec.RegRssKey(i), binary.LittleEndian.Uint32(key[4*i:]))
	}
}

// beginRxParts sets the parts of the receive side up, as far as they are there.
func (c *chaos) beginRxParts() {
	if c.opt.parts&nicspec.PartRss != 0 {
		c.m.rssKey(c.opt.seed)
		for i := range 16 {
			c.m.indirection((250+i)%nicspec.RssEntries, c.rng.IntN(chaosQueues))
		}
		for v := range 3 {
			c.m.rule(10+v, rssRule(uint8(5+v), 250+v, v))
		}
	}
}

// useRxParts changes something about them while frames come in.
func (c *chaos) useRxParts() {
	if c.opt.parts&nicspec.PartRss != 0 {
		c.changeRss()
	}
}

func (c *chaos) changeRss() {
	m := c.m
	c.send()
	switch c.rng.IntN(5) {
	case 0:
		m.write(nicspec.RegRssKey(c.rng.IntN(nicspec.RegRssKeyCount)), c.rng.Uint32())
	case 1:
		m.rssKey(c.rng.Uint64())
	case 2, 3:
		m.indirection((250+c.rng.IntN(16))%nicspec.RssEntries, c.rng.IntN(chaosQueues+1))
	case 4:
		m.write(nicspec.RegRxDefault, uint32(nicspec.ActionRss)<<16|uint32(c.rng.IntN(300))|uint32(c.rng.IntN(16))<<24)
	}
}

func TestChaosWithRxPartsPasses(t *testing.T) {
	for seed := range uint64(chaosSeeds) {
		o := chaosOpt{seed: seed, steps: 300, faults: seed&1 != 0, config: seed&2 != 0, queues: seed&4 != 0, stall: int(seed) / 8 % 3 * 30,
			parts: rxParts}
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			c := newChaos(t, o)
			c.run()
			p := judge(t, DefaultConfig(c.r.opt.spec), c.r.tape)
			require.True(t, p.Passed(), "%v", p)
			require.NotZero(t, p.Stats.Delivered)
		})
	}
}

// calmParts records a run in which the parts of the receive side work and
// everything is certain.
func calmParts(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	o := defaultRig()
	o.spec.Ports, o.spec.NumRxq, o.spec.NumTxq, o.spec.NumRules, o.spec.Parts = 2, 8, 8, 16, rxParts
	r := newRig(t, o)
	m, rng := r.mem, rand.New(rand.NewPCG(8, 8))
	m.write(nicspec.RegDevctl, 1|2<<4)
	m.write(nicspec.RegCtrl, 3)
	m.rssKey(77)
	m.rule(1, rssRule(1, 254, 2))
	m.rule(2, dmacRule(0, nicspec.ActionDrop, 0))
	for i := range 4 {
		m.indirection((254+i)%nicspec.RssEntries, i%2)
	}
	for q := range 2 {
		m.openRx(q, 7, nil)
		m.post(q, 128)
	}
	r.settle()
	r.step(simcore.Microsecond)
	for range 60 {
		f := testFrame(rng)
		if len(f) == 0 {
			continue
		}
		if f[0] = 2; rng.IntN(6) == 0 {
			f[0] = 0
		}
		r.peers[rng.IntN(2)].send(f)
		r.step(simcore.Ps(rng.IntN(300)) * simcore.Nanosecond)
	}
	m.readCounters()
	cfg := DefaultConfig(o.spec)
	cfg.ForbidNoDesc, cfg.ForbidOverflow = true, true
	return cfg, r.tape
}

var rxPartSabotages = []sabotage{
	rxField("rss_hash", "S2", func(e nicspec.RxCqe) { e.SetRssHash(e.RssHash() ^ 1<<31) }),
}

func TestRxPartSabotageIsCaught(t *testing.T) {
	cfg, clean := calmParts(t)
	sabotagesAreCaught(t, cfg, clean, rxPartSabotages)
}

// A frame caught in a change of key and table sees each word and each entry old
// or new, and its queue goes with its hash [S4].
func TestRssWindow(t *testing.T) {
	var v versions
	cfg := nic.Config{RxEnable: true, Rss: true, DefaultAction: nicspec.ActionRss, DefaultLog: 8}
	v.init(nic.Config{})
	v.add(cfg, 10)
	for i := range 4 { // every write is over before the next
		cfg.RssKey = cfg.RssKey.With(i, 0x01020304*uint32(i+1))
		v.add(cfg, int64(100*i+100))
	}
	data := pattern(60, 3)
	copy(data[12:], []byte{8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 9, 17})
	var h nic.Headers
	nic.Parse(data, 4791, &h)
	var buf [nicspec.RssKeyBytes]byte
	input := h.RssInput(&buf)
	old := cfg.RssKey.Hash(input)
	word := func(i int, was, now uint32) uint32 { return nic.RssWord(i, was, input) ^ nic.RssWord(i, now, input) }
	cfg.RssKey = cfg.RssKey.With(0, 0x11).With(2, 0x77777777)
	first, second := word(0, 0x01020304, 0x11), word(2, 0x0306090c, 0x77777777)
	cfg.Indirection = cfg.Indirection.With(int(uint8(old)), 3)
	v.add(cfg, 1000)
	f := &rxFrame{data: data, n: 60, first: 1000, last: 1000}
	v.verdicts(f)
	require.True(t, f.rssOpen)
	alt := &f.alts[0]
	for _, hash := range []uint32{old, old ^ first, old ^ second, old ^ first ^ second} {
		require.True(t, v.rss.settleHash(f, alt, hash, 0), "%#x", hash)
		require.Equal(t, hash == old, v.rss.settleHash(f, alt, hash, 3), "%#x", hash)
	}
	require.False(t, v.rss.settleHash(f, alt, old^1, 0))
	f = &rxFrame{data: data, n: 60, first: 1065, last: 1065}
	v.verdicts(f)
	require.False(t, f.rssOpen)
	require.Len(t, f.alts, 1)
	require.Equal(t, old^first^second, f.alts[0].Hash)
}
