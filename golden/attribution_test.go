package golden

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/ether"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// recorded replays a file of crossings, one per line, to a referee: "tlp KIND FIRST LAST HEADER DATA", "frame KIND
// PORT FIRST LAST QUEUE DATA" or "held KIND PORT FIRST LAST".
func recorded(t *testing.T, file string, ports int) *Report {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	build := nicspec.DefaultBuild()
	build.Ports = ports
	g, err := New(DefaultConfig(build))
	require.NoError(t, err)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<16)
	for lines.Scan() {
		var what, bytes string
		var x boundary.Crossing
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "held"):
			var h boundary.Held
			_, err = fmt.Sscan(line, &what, &h.Kind, &h.Port, &h.First, &h.Last)
			g.Held(h)
			require.NoError(t, err)
			continue
		case strings.HasPrefix(line, "tlp"):
			var header string
			n, _ := fmt.Sscan(line, &what, &x.Kind, &x.First, &x.Last, &header, &bytes)
			require.GreaterOrEqual(t, n, 5)
			x.TLP = &tlp.Packet{}
			_, err = hex.Decode(x.TLP.Hdr[:], []byte(header))
			require.NoError(t, err)
			x.TLP.Data, err = hex.DecodeString(bytes)
		default:
			x.Frame = &ether.Frame{}
			_, err = fmt.Sscan(line, &what, &x.Kind, &x.Port, &x.First, &x.Last, &x.Frame.Queue, &bytes)
			require.NoError(t, err)
			x.Frame.Data, err = hex.DecodeString(bytes)
		}
		require.NoError(t, err)
		g.Observe(x)
	}
	require.NoError(t, lines.Err())
	return g.Finish()
}

// In these recordings of random programs the NIC is right, but an earlier referee reported mismatches: entries of two
// queues name overlapping memory, a ring read brought too much, buffers overlap, or a dropped frame switched its credit
// account to the slow path (docs/attribution.md).
func TestRecordedRunsPass(t *testing.T) {
	for _, run := range []struct {
		name  string
		ports int
	}{
		{"overlap-91001-433", 1}, {"overlap-91003-1017", 1}, {"overlap-91003-6503", 1}, {"txwqe-91003-6285", 1},
		{"overlap-4711-194", 1}, {"buffers-82011-2772", 1}, {"buffers-83021-2174", 2}, {"account-82021-1159", 2},
	} {
		t.Run(run.name, func(t *testing.T) {
			p := recorded(t, "testdata/"+run.name+".tape.gz", run.ports)
			require.True(t, p.Passed(), "%.4000v", p)
			require.Empty(t, p.Limits)
		})
	}
}

// A queue is off while a read is outstanding that was first attributed to a failing entry of it. The read can only
// belong to a longer piece of another queue, so the referee must not report it [Q5].
func TestQueueIsOffWhileAnotherReads(t *testing.T) {
	p := recorded(t, "testdata/overlap-8-93.tape.gz", 2)
	require.True(t, p.Passed(), "%.4000v", p)
}

// Two entries of one queue name the bytes of an outstanding read. That the read may belong to either is no excuse:
// the queue must not be off yet [Q5].
func TestQueueIsOffWhileItReads(t *testing.T) {
	r := newRig(t, smallRig())
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(pattern(keySpan, 1))
	m.OpenTx(0, 4)
	for range 2 {
		w := nicspec.WqeFields{Opcode: nicspec.OpcodeSend, Nseg: 1, FComplete: true}
		(&nicspec.SegFields{Key: goodKey, Len: 200, Addr: 0x1000}).Encode(w.Slots[:])
		m.push(0, &w)
	}
	m.RingTx(0)
	for range 1000 {
		if r.step(simcore.Nanosecond); slices.ContainsFunc(r.tape,
			func(x boundary.Crossing) bool { return readOf(keyBus)(&x) }) {
			break
		}
	}
	m.disable(nicspec.TableTxq, 0)
	m.readCounters()
	cfg := DefaultConfig(r.opt.spec.Build)
	require.True(t, judge(t, cfg, r.tape).Passed())
	sabotagesAreCaught(t, cfg, r.tape, []sabotage{{"off before its reads have come", func(p *tape) {
		const busy = 0x80
		for i := p.find(0, readOf(keyBus)); ; i++ {
			if x := &p.s[i]; x.Kind == boundary.TLPOut && len(x.TLP.Data) == 4 && x.TLP.Data[3]&busy != 0 {
				x.TLP.Data[3] &^= busy
				return
			}
		}
	}, "txq 0", "Q5", "busy"}})
}

// Entries of all queues name a few buffers, whose bytes are often equal, while reads fail, keys are rewritten and
// queues are disabled and enabled. The NIC is right, so nothing may be reported.
func TestFewBuffersPass(t *testing.T) {
	seeds := append(upTo(chaosSeeds), 78, 96, 132, 160, 233, 242, 284, 331, 344, 376)
	chaosPasses(t, seeds, chaosOpt{steps: 300, few: true}, func(o *chaosOpt) {
		o.faults, o.pushes = o.seed%8 != 0, o.seed%5 == 0
	}, sentFrames)
}

// Copies of all queues read a few buffers and write to a few, which overlap. The NIC is right, so nothing may be
// reported.
func TestFewDestinationsPass(t *testing.T) {
	seeds := append(upTo(chaosSeeds), 52, 85, 94, 105, 160, 188, 222, 253, 268, 325, 376, 394)
	chaosPasses(t, seeds, chaosOpt{steps: 300, few: true, copies: true}, func(o *chaosOpt) {
		o.faults, o.pushes = o.seed%8 != 0, o.seed%5 == 0
	}, sentFrames)
}

// shared records two queues that send 200 bytes from the same memory, from byte 0 and from byte 50: two entries
// each and, after the memory was rewritten, one more each.
func shared(t testing.TB) (Config, []boundary.Crossing) {
	t.Helper()
	r := newRig(t, smallRig())
	m := r.mem
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(pattern(keySpan, 1))
	m.OpenTx(0, 4)
	m.OpenTx(1, 4)
	for round := range 2 {
		m.Write(keyBus, pattern(512, uint64(round+5)))
		for i := range 2 * (2 - round) {
			w := nicspec.WqeFields{Opcode: nicspec.OpcodeSend, Nseg: 1, FComplete: true, WqeId: uint32(i)}
			(&nicspec.SegFields{Key: goodKey, Len: 200, Addr: 0x1000 + uint64(i%2)*50}).Encode(w.Slots[:])
			m.push(i%2, &w)
		}
		m.RingTx(0)
		m.RingTx(1)
		r.settle()
	}
	m.readCounters()
	return DefaultConfig(r.opt.spec.Build), r.tape
}

// rewritten changes the bytes that the n-th read of queue 0's piece brings, as if the memory had been written just
// before. It returns these bytes.
func (p *tape) rewritten(n int) []byte {
	tag := tlp.Parse(&p.get(n, readOf(keyBus)).TLP.Hdr).Tag
	for i := p.find(n, readOf(keyBus)); ; i++ {
		if x := &p.s[i]; x.Kind == boundary.TLPIn {
			if h := tlp.Parse(&x.TLP.Hdr); h.Kind == tlp.CplD && h.Tag == tag {
				for k := range x.TLP.Data {
					x.TLP.Data[k] ^= 0x55
				}
				return x.TLP.Data
			}
		}
	}
}

func TestSharedMemory(t *testing.T) {
	cfg, clean := shared(t)
	p := judge(t, cfg, clean)
	require.True(t, p.Passed(), "%v", p)
	require.EqualValues(t, 6, p.Stats.FramesOut)
	// Each read of the memory may bring other bytes, and each entry may have used any of the reads.
	for _, edit := range []func(p *tape){
		func(p *tape) { copy(p.get(0, frameOut(0)).Frame.Data, p.rewritten(0)) },
		func(p *tape) { copy(p.get(1, frameOut(0)).Frame.Data, p.rewritten(0)) },
		func(p *tape) { // part of the read was used by the other queue
			came := p.rewritten(0)
			copy(p.get(0, frameOut(0)).Frame.Data, came[:50])
			copy(p.get(0, frameOut(1)).Frame.Data, came[50:200])
		},
	} {
		p := newTape(t, clean)
		edit(p)
		rep := judge(t, cfg, p.s)
		require.True(t, rep.Passed(), "%v", rep)
	}
	again := func(p *tape, n int, of pick, change func(h *tlp.Header)) {
		i := p.find(n, of)
		x := clone(p.s[i])
		p.header(&x, func(h *tlp.Header) { h.Tag = 250; change(h) })
		p.insert(i+1, x)
	}
	sabotagesAreCaught(t, cfg, clean, []sabotage{
		{"read once too often", func(p *tape) {
			again(p, 1, readOf(keyBus), func(*tlp.Header) {})
			again(p, 0, readOf(keyBus), func(*tlp.Header) {})
		}, "device", "T4", "Address"},
		{"read beyond the pieces", func(p *tape) {
			again(p, 0, readOf(keyBus), func(h *tlp.Header) { h.Address += 100 })
		}, "device", "T4", "Address"},
		{"a byte of no read", func(p *tape) { p.get(1, frameOut(0)).Frame.Data[150] ^= 1 }, "txq 0", "T5", ""},
		{"bytes of another place",
			func(p *tape) { copy(p.get(1, frameOut(0)).Frame.Data[:50], p.get(0, frameOut(1)).Frame.Data[60:]) },
			"txq 0", "T5", ""},
		{"what was there before the memory was rewritten", func(p *tape) {
			copy(p.get(2, frameOut(0)).Frame.Data, p.get(0, frameOut(0)).Frame.Data)
		}, "txq 0", "T5", ""},
		{"bytes that came once in two frames", func(p *tape) {
			came := p.rewritten(0)
			copy(p.get(0, frameOut(0)).Frame.Data, came)
			copy(p.get(1, frameOut(0)).Frame.Data, came)
		}, "txq 0", "T5", ""},
		{"a read is missing", func(p *tape) { p.lose(1, readOf(keyBus)) }, "", "", ""},
	})
}

// lose removes the n-th picked read and its completion.
func (p *tape) lose(n int, is pick) {
	i := p.find(n, is)
	tag := tlp.Parse(&p.s[i].TLP.Hdr).Tag
	for k := i + 1; ; k++ {
		if x := &p.s[k]; x.Kind == boundary.TLPIn {
			if h := tlp.Parse(&x.TLP.Hdr); h.Kind == tlp.CplD && h.Tag == tag {
				p.drop(k)
				break
			}
		}
	}
	p.drop(i)
}
