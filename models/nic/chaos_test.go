package nic

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

// chaos drives a NIC with random traffic, faults, doorbells and table commands at the same time,
// and keeps the results to expect.
type chaos struct {
	t    *testing.T
	r    *rig
	rng  *rand.Rand
	sent [2][][]byte // every frame sent to the NIC, by port
	rx   [chaosQueues]chaosRx
	tx   [chaosQueues]chaosTx
	bufs uint64 // address of the next buffer

	failed uint64 // read requests that have failed so far
}

const (
	chaosQueues = 3
	chaosLog    = 4
)

type chaosRx struct {
	mode  nicspec.SplitMode
	descs [][2]uint64 // addresses of header and payload buffer, by descriptor index
	open  bool
	last  [2]int64 // ordinal of the latest frame delivered, by port
}

type chaosTx struct {
	frames [][]byte // frame of each entry; nil if the entry must fail or sends nothing
	faulty []bool   // the entry may fail
	at     []uint16 // index of each entry's first block, then of the next entry to be posted
	open   bool
	out    int // entry whose frame is expected next
	ended  int
}

// posted returns the number of posted blocks whose entries have not ended.
func (s *chaosTx) posted() int { return int(s.at[len(s.frames)] - s.at[s.ended]) }

func newChaos(t *testing.T, seed uint64) *chaos {
	rng := rand.New(rand.NewPCG(seed, 1))
	o := defaultRig()
	o.spec.Ports, o.spec.NumRxq, o.spec.NumTxq = 2, 4, 4
	o.spec.EthBits = 256 << rng.IntN(3)
	o.spec.TLPBits = 512 << rng.IntN(2)
	o.spec.Timing.Tags = 1 << rng.IntN(9)
	o.spec.Timing.RxPrefetch, o.spec.Timing.TxPrefetch = 4<<rng.IntN(4), 4<<rng.IntN(3)
	o.spec.Timing.TxInFlight = 1 + rng.IntN(20)
	o.spec.Timing.TxBufBytes = 9216 << rng.IntN(3)
	if rng.IntN(2) == 0 {
		o.stalls = &inject.Stalls{Seed: seed, Streams: map[string]int{
			StreamEthOut: rng.IntN(80), StreamTLPOut: rng.IntN(80), StreamTLPIn: rng.IntN(80)}}
	}
	o.seed, o.shuffle, o.policy = seed, true, tlp.CplPolicy(rng.IntN(3))
	o.latency = simcore.Ps(rng.IntN(1000)+1) * simcore.Nanosecond
	c := &chaos{t: t, rng: rng, bufs: 0x7000_0000}
	c.r = newRig(t, o)
	c.r.host.keep = true
	h := c.r.host
	h.Write32(nicspec.RegCtrl, 3)
	h.Write32(nicspec.RegCplTimeout, 3000)
	c.r.host.setKey(5, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: 0x5a, Length: testSpan,
		BusBase: testBus})
	for q := range chaosQueues {
		f := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: uint16(q)}
		f.Mask[8], f.Value[8] = 3, uint8(q) // first byte of the destination address
		var b [128]byte
		f.Encode(b[:])
		require.Equal(t, nicspec.TableStatusOk, h.Table(nicspec.TableOpWrite, nicspec.TableRule, q, b[:]))
		c.rx[q].mode = nicspec.SplitMode(rng.IntN(3))
		c.openRx(q)
		c.openTx(q)
	}
	return c
}

func (c *chaos) openRx(q int) {
	h, s := c.r.host, &c.rx[q]
	h.Write(nictest.RxCq(q), make([]byte, 64<<chaosLog))
	h.OpenRx(q, chaosLog, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = s.mode, 77 })
	s.descs, s.open, s.last = nil, true, [2]int64{-1, -1}
}

func (c *chaos) openTx(q int) {
	h := c.r.host
	h.Write(nictest.TxCq(q), make([]byte, 64<<chaosLog))
	h.OpenTx(q, chaosLog)
	c.tx[q] = chaosTx{open: true, at: []uint16{0}}
}

func (c *chaos) sendFrames() {
	for range c.rng.IntN(12) {
		n := nicspec.FrameMin + c.rng.IntN(400)
		switch c.rng.IntN(20) {
		case 0:
			n = c.rng.IntN(60)
		case 1:
			n = 9000 + c.rng.IntN(300)
		}
		p := c.rng.IntN(2)
		f := nictest.Pattern(n, uint64(len(c.sent[p]))<<8+uint64(p))
		c.sent[p] = append(c.sent[p], f)
		c.r.peers[p].send(f)
	}
}

func (c *chaos) post() {
	h := c.r.host
	q := c.rng.IntN(chaosQueues)
	s := &c.rx[q]
	used := int(h.Rx[q].Taken)
	for n := c.rng.IntN(10); s.open && n > 0 && len(s.descs)-used < 1<<chaosLog; n-- {
		d := [2]uint64{c.bufs + uint64(c.rng.IntN(64)), 0x0100_0000_0000_0000 + c.bufs + uint64(c.rng.IntN(64))}
		c.bufs += 0x4000
		if c.rng.IntN(40) == 0 {
			h.Fail(nictest.RxRing(q)+16*uint64(len(s.descs)&(1<<chaosLog-1)),
				nictest.ReadFaults[c.rng.IntN(len(nictest.ReadFaults))])
		}
		s.descs = append(s.descs, d)
		h.Post(q, d[0], d[1])
	}
	h.RingRx(q)
}

func (c *chaos) postWqes() {
	h := c.r.host
	q := c.rng.IntN(chaosQueues)
	s := &c.tx[q]
	for n := c.rng.IntN(10); s.open && n > 0 && s.posted()+nicspec.WqeBlocksMax <= 1<<chaosLog; n-- {
		i := len(s.frames)
		frame := nictest.Pattern(60+c.rng.IntN(1500), uint64(c.bufs))
		at := c.bufs - 0x7000_0000
		c.bufs += 0x4000
		h.Write(testBus+at, frame)
		key, want, faulty := uint32(testKey), frame, false
		switch c.rng.IntN(15) {
		case 0:
			key, want = 9, nil
		case 1:
			h.Fail(testBus+at, nictest.ReadFaults[c.rng.IntN(len(nictest.ReadFaults))])
			faulty = true
		case 2:
			h.Fail(nictest.TxRing(q)+64*uint64((int(s.at[i])+c.rng.IntN(4))&(1<<chaosLog-1)),
				nictest.ReadFaults[c.rng.IntN(len(nictest.ReadFaults))])
		}
		s.frames, s.faulty = append(s.frames, want), append(s.faulty, faulty)
		cut := 1 + c.rng.IntN(len(frame)-1)
		inline := min(c.rng.IntN(4)*c.rng.IntN(nicspec.InlineMaxLong/3), cut,
			nicspec.InlineMaxLong-2*nicspec.WqeSlotBytes)
		var pieces []nictest.Piece
		for _, p := range [][2]int{{inline, cut}, {cut, len(frame)}} {
			if p[0] < p[1] {
				pieces = append(pieces, nictest.Piece{Key: key, Addr: at + uint64(p[0]), N: p[1] - p[0]})
			}
		}
		blocks := max(nictest.NeedBlocks(inline, len(pieces)), 1+c.rng.IntN(2)*c.rng.IntN(nicspec.WqeBlocksMax))
		c.ring(q, nictest.Blocks(blocks, uint32(i), frame[:inline], pieces,
			func(w nicspec.Wqe) { w.SetPort(uint8(c.rng.IntN(2))) }))
		s.at = append(s.at, s.at[i]+uint16(blocks))
	}
	h.RingTx(q)
}

// ring posts an entry block by block. At random it rings the doorbell between blocks, or pushes a
// block.
func (c *chaos) ring(q int, raw []byte) {
	h := c.r.host
	for ; len(raw) > 0; raw = raw[nicspec.WqeBytes:] {
		switch c.rng.IntN(12) {
		case 0:
			h.RingTx(q) // a push carries the block after those that the doorbell covers
			h.push(q, raw[:nicspec.WqeBytes], true)
		case 1:
			h.PostWqe(q, raw[:nicspec.WqeBytes])
			h.RingTx(q)
		default:
			h.PostWqe(q, raw[:nicspec.WqeBytes])
		}
	}
}

// collect takes completion entries and checks them.
func (c *chaos) collect() {
	for q := range chaosQueues {
		for e := c.r.host.RxCqe(q); e != nil; e = c.r.host.RxCqe(q) {
			c.takeRx(q, e)
		}
		for e := c.r.host.TxCqe(q); e != nil; e = c.r.host.TxCqe(q) {
			c.takeTx(q, e)
		}
	}
}

func (c *chaos) takeRx(q int, e nicspec.RxCqe) {
	s, h := &c.rx[q], c.r.host
	if e.Type() == nicspec.CqeTypeEvent {
		require.NotEqual(c.t, nicspec.StatusOk, e.Status())
		s.open = false
		return
	}
	p, seq := int(e.Port()), int64(e.PortSeq())
	require.Greater(c.t, seq, s.last[p], "queue %d: order of port %d", q, p)
	s.last[p] = seq
	frame := c.sent[p][seq]
	d, hdr := s.descs[e.Index()], int(e.HdrLen())
	got := append(h.Bytes(d[0], hdr), h.Bytes(d[1], len(frame)-hdr)...)
	require.True(c.t, bytes.Equal(frame, got), "queue %d, frame %d of port %d", q, seq, p)
	require.EqualValues(c.t, frame[0]&3, q)
}

func (c *chaos) takeTx(q int, e nicspec.TxCqe) {
	s := &c.tx[q]
	if e.Type() == nicspec.CqeTypeEvent {
		s.open = false
		require.Less(c.t, e.Index()-s.at[s.ended], s.at[s.ended+1]-s.at[s.ended],
			"queue %d: entries before the failing read end", q)
		return
	}
	i := int(e.WqeId())
	require.Equal(c.t, s.ended, i, "queue %d: entries end in order", q)
	require.Equal(c.t, s.at[i], e.Index())
	s.ended++
	switch {
	case s.frames[i] == nil:
		require.Equal(c.t, nicspec.StatusBadKey, e.Status())
	case e.Status() == nicspec.StatusOk:
		require.EqualValues(c.t, len(s.frames[i]), e.FrameLen())
		require.Equal(c.t, i, s.out-1-c.ahead(q, i), "queue %d: entry %d ended before its frame left", q, i)
	default:
		require.True(c.t, s.faulty[i], "queue %d, entry %d: %v", q, i, e.Status())
	}
}

// ahead returns by how many entries the latest frame that left queue q is ahead of entry i; 0 if it is not.
func (c *chaos) ahead(q, i int) int { return max(c.tx[q].out-1-i, 0) }

// frameOut checks that a frame is the next one that its queue must send, with the bytes that were
// in memory.
func (c *chaos) frameOut(x boundary.Crossing) {
	s := &c.tx[x.Frame.Queue]
	for ; s.out < len(s.frames); s.out++ {
		if f := s.frames[s.out]; f != nil && bytes.Equal(f, x.Frame.Data) {
			s.out++
			return
		}
	}
	c.t.Errorf("queue %d: a frame of %d B that is not the next one", x.Frame.Queue, len(x.Frame.Data))
}

// reopen disables and enables a queue, whether or not it is idle.
func (c *chaos) reopen() {
	h, q := c.r.host, c.rng.IntN(chaosQueues)
	table, open := nicspec.TableRxq, &c.rx[q].open
	if c.rng.IntN(2) == 0 {
		table, open = nicspec.TableTxq, &c.tx[q].open
	}
	if *open && c.rng.IntN(4) != 0 {
		return
	}
	*open = false
	require.Equal(c.t, nicspec.TableStatusOk, h.Table(nicspec.TableOpWrite, table, q, make([]byte, 64)))
	c.r.run()
	c.collect()
	h.Faults.Clear()
	if table == nicspec.TableRxq {
		c.openRx(q)
	} else {
		c.openTx(q)
	}
}

func (c *chaos) run(steps int) {
	c.r.trace = func(x boundary.Crossing) {
		if x.Kind == boundary.FrameOut {
			c.frameOut(x)
		}
		if x.Kind == boundary.TLPOut {
			c.abandoned(x.TLP)
		}
	}
	for range steps {
		switch c.rng.IntN(8) {
		case 0, 1, 2:
			c.sendFrames()
		case 3, 4:
			c.post()
		case 5, 6:
			c.postWqes()
		case 7:
			c.reopen()
		}
		require.NoError(c.t, c.r.eng.RunUntil(c.r.eng.Now()+simcore.Ps(c.rng.IntN(3))*simcore.Microsecond))
		c.collect()
	}
	c.r.idle()
	c.collect()
	for p := range c.sent {
		require.EqualValues(c.t, len(c.sent[p]), c.r.nic.Regs().Port(nicspec.CntRxFrames, p))
	}
}

// abandoned tells the monitor which requests the device has given up since the last TLP left; p may
// use the tag of one of them.
func (c *chaos) abandoned(p *tlp.Packet) {
	regs := c.r.nic.Regs()
	failed := regs.Dev(nicspec.CntCplTimeouts) + regs.Dev(nicspec.CntCplErr)
	if failed == c.failed {
		return
	}
	c.failed = failed
	for i := range c.r.nic.spec.Timing.Tags {
		if !c.r.nic.reader.Waits(uint8(i)) || p.Hdr[0]&^0x20 == 0 && int(p.Hdr[6]) == i {
			c.r.mon.Abandon(tlp.FromDevice, nicspec.RequesterNic, uint8(i))
		}
	}
}

// strays checks that every write of the NIC goes into a posted buffer or a completion ring [C2].
func (c *chaos) strays() {
	for _, w := range c.r.host.writes {
		a, end := w.addr, w.addr+uint64(len(w.data))
		const host = 0x0100_0000_0000_0000
		ok := a >= 0x7000_0000 && end <= c.bufs || a >= host+0x7000_0000 && end <= host+c.bufs
		for q := range chaosQueues {
			ok = ok || a >= nictest.RxCq(q) && end <= nictest.RxCq(q)+64<<chaosLog || a >= nictest.TxCq(q) &&
				end <= nictest.TxCq(q)+64<<chaosLog
		}
		require.True(c.t, ok, "write of %d B at %#x", len(w.data), a)
	}
}

// TestChaos runs random traffic with faults on several queues, for forty seeds, and checks every
// frame, completion entry, counter and write address.
func TestChaos(t *testing.T) {
	var sum [nicspec.RegCounterCount]uint64
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newChaos(t, seed)
			c.run(150)
			c.strays()
			for i := range sum {
				sum[i] += c.r.nic.Regs().At(i)
			}
		})
	}
	// Runs in which one of these counters hardly stepped would prove little.
	for _, n := range []int{
		nicspec.CntRxDelivered.Index(0), nicspec.CntRxDelivered.Index(1), nicspec.CntRxDropRunt.Index(0),
		nicspec.CntRxDropOversize.Index(0), nicspec.CntRxDropQueueErr.Index(0), nicspec.CntRxDropNoDesc.Index(0),
		nicspec.CntTxFrames.Index(0), nicspec.CntTxFrames.Index(1), nicspec.CntTxErr.Index(),
		nicspec.CntQueueErr.Index(),
		nicspec.CntCplErr.Index(), nicspec.CntCplTimeouts.Index(), nicspec.CntCplUnexpected.Index(),
		nicspec.CntDbBad.Index(),
	} {
		t.Logf("%s: %d", nicspec.CounterName(n), sum[n])
		require.Greater(t, sum[n], uint64(10), nicspec.CounterName(n))
	}
}

// TestSameSeedSameCrossings: two runs with one seed have equal crossings in equal cycles; another seed has other
// crossings.
func TestSameSeedSameCrossings(t *testing.T) {
	digest := func(seed uint64) uint64 {
		c := newChaos(t, seed)
		h := fnv.New64a()
		c.r.nic.Observe(func(x boundary.Crossing) {
			fmt.Fprint(h, x.Kind, x.Port, x.First, x.Last)
			if x.TLP != nil {
				h.Write(x.TLP.Hdr[:])
				h.Write(x.TLP.Data)
			} else {
				h.Write(x.Frame.Data)
			}
		})
		c.run(60)
		return h.Sum64()
	}
	require.Equal(t, digest(3), digest(3))
	require.NotEqual(t, digest(3), digest(4))
}
