package judge_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/stack/driver"
	"nictwin/stack/driver/rootbus"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// Latency of every link: two quanta of 64 cycles can be pipelined.
const linkLatency = 128 * simcore.DefaultPeriodPs

// server is a server with one card, its driver and its referee.
type server struct {
	t     *testing.T
	pay   int // endpoint whose memory receives payload
	name  string
	s     *board.Server
	d     *driver.Driver
	tx    *driver.TxQueue
	judge *judge.Judge

	got     [][]byte
	ended   int // work entries that ended
	counted bool
}

// plain is a card without a switch.
const plain = "plain"

// rig is two servers on one engine, their NICs connected by a cable.
type rig struct {
	e     *simcore.Engine
	pools board.Pools
	two   [2]*server
	log   *judge.Log
	over  bool
}

// newRig builds a rig from cards with the switch, caches and memories of a preset, or from plain cards.
func newRig(t *testing.T, dir *files.Folder, kinds [2]string, preset string) *rig {
	t.Helper()
	h, err := hometest.Find()
	require.NoError(t, err)
	r := &rig{e: simcore.NewEngine()}
	names := [2]string{"A", "B"}
	r.log, err = judge.NewLog(dir, 0, names[:]...)
	require.NoError(t, err)
	link := simcore.LinkSpec{Latency: linkLatency, Credits: 1024, CreditLatency: linkLatency}
	for i, kind := range kinds {
		card := board.CardSpec{Name: "Card", PCIe: link, Eth: link, Endpoint: board.DefaultEndpoint(), Seed: uint64(i)}
		x, quantum := &server{t: t, name: names[i], pay: nicspec.EndpointHost}, uint32(64)
		if preset != plain {
			card.Switch, err = board.SwitchPreset(preset)
			require.NoError(t, err)
			card.PCIe, quantum = board.NICLinkSpec(), 30 // link latency covers two quanta
			x.pay = nicspec.EndpointArm                  // where completion entries are: order holds per endpoint only
		}
		dev, err := device.Open(device.Spec{NIC: kind, DUT: h.Path("nic"), Variant: "speed", Quantum: quantum})
		require.NoError(t, err)
		x.s, err = board.NewServer(r.e, &r.pools, board.ServerSpec{Name: x.name, Cards: []board.CardSpec{card}},
			dev.NIC)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, x.s.Close()) })
		x.open(r)
		r.two[i] = x
	}
	nic := func(i int) board.NIC { return r.two[i].s.Cards[0].NIC }
	cable := link // a latency of two quanta lets both devices run ahead of the engine
	cable.Latency, cable.CreditLatency = 2*linkLatency, 2*linkLatency
	require.NoError(t, board.Cable("Cable", r.e, cable, nic(0).Eth(0), nic(1).Eth(0)))
	for i := range r.two {
		require.NoError(t, nic(i).Begin(func() bool { return r.over }))
	}
	return r
}

// open attaches the referee and sets up a queue in each direction.
func (x *server) open(r *rig) {
	c := x.s.Cards[0]
	var err error
	x.judge, err = judge.Attach(c.NIC, judge.Options{Name: x.name, Build: nicspec.DefaultBuild(), Log: r.log})
	require.NoError(x.t, err)
	bus := rootbus.Bus{Regs: c.Root.MMIO(nicspec.RequesterArm), Memory: c.Memory}
	x.d, err = driver.New(bus, driver.DefaultOptions())
	require.NoError(x.t, err)
	rx, err := x.d.OpenCopier(driver.RxConfig{QueueConfig: driver.QueueConfig{Queue: 2, LogSize: 5}, PayBytes: 2048},
		func(_ *driver.Copier, _ nicspec.RxCqe, hdr, pay []byte) {
			x.got = append(x.got, append(append([]byte(nil), hdr...), pay...))
		})
	require.NoError(x.t, err)
	require.NoError(x.t, x.d.SetDefault(driver.ToQueue(2)))
	x.tx, err = x.d.OpenTx(driver.TxConfig{
		QueueConfig: driver.QueueConfig{Queue: 1, LogSize: 6},
		OnEnd:       func(_ *driver.TxQueue, e *driver.TxEnd) { x.ended += e.N },
	})
	require.NoError(x.t, err)
	for range 32 {
		require.NoError(x.t, rx.Post(driver.Buffer{Pay: x.alloc(x.pay, 2048)}))
	}
	require.NoError(x.t, rx.Ring())
	x.d.Enable(true, true)
}

func (x *server) alloc(endpoint int, n uint64) uint64 {
	at, err := x.d.Alloc(endpoint, n, 64)
	require.NoError(x.t, err)
	return at
}

// send posts frames from host memory, with the first bytes inline.
func (x *server) send(frames [][]byte) {
	const inline = 16
	at := x.alloc(nicspec.EndpointHost, 1<<16)
	key, err := x.d.SetKey(driver.KeySpec{Index: 3, Variant: 7, Bus: at, Len: 1 << 16, Rights: dma.Access{Read: true}})
	require.NoError(x.t, err)
	x.d.Then(func() {
		off := uint64(0)
		for i, f := range frames {
			require.NoError(x.t, x.s.Cards[0].Memory.Write(at+off, f[inline:]))
			require.NoError(x.t, x.tx.Post(&driver.Send{
				Order: driver.Order{ID: uint32(i), Complete: true}, Inline: f[:inline],
				Pieces: []driver.Span{{Key: key, Off: off, Len: uint32(len(f) - inline)}},
			}))
			off += uint64(len(f))
		}
		require.NoError(x.t, x.tx.Ring())
	})
}

// play lets both servers send and receive, and returns the digests of both referees.
func play(t *testing.T, dir string, kinds [2]string, preset string) [2]string {
	t.Helper()
	folder, err := files.OpenFolder(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, folder.Close()) }()
	r := newRig(t, folder, kinds, preset)
	var sent [2][][]byte
	for i, x := range r.two {
		for k := range 24 {
			sent[i] = append(sent[i], nictest.Pattern(64+k*50+i, uint64(100*i+k)))
		}
		x.send(sent[i])
	}
	whole := func() bool {
		for i, x := range r.two {
			if len(x.got) < len(sent[1-i]) || x.ended < len(sent[i]) {
				return false
			}
		}
		return true
	}
	for range 200 {
		require.NoError(t, r.e.RunUntil(r.e.Now()+10*simcore.Microsecond))
		if whole() {
			break
		}
	}
	require.True(t, whole(), "%v: A received %d and sent %d, B %d and %d", kinds, len(r.two[0].got), r.two[0].ended,
		len(r.two[1].got), r.two[1].ended)
	for _, x := range r.two { // the referees compare the counters read with their own
		x.d.ReadCounters(func(driver.Counters) { x.counted = true })
	}
	require.NoError(t, r.e.RunUntil(r.e.Now()+100*simcore.Microsecond))
	require.True(t, r.two[0].counted && r.two[1].counted)
	r.over = true
	require.NoError(t, r.e.Run())
	var digests [2]string
	for i, x := range r.two {
		require.NoError(t, x.d.Err())
		require.Equal(t, sent[1-i], x.got)
		rep := x.judge.Finish(judge.Whole)
		require.True(t, rep.Passed(), "%s: %v", x.name, rep)
		require.EqualValues(t, 24, rep.Stats.Delivered)
		require.EqualValues(t, 24, rep.Stats.FramesOut)
		digests[i] = rep.Digest
	}
	require.NoError(t, r.log.Close())
	return digests
}

// TestTwoServers sends between two servers on one engine in both directions, with every pair of NICs: no referee may
// find a mismatch, and a second run must be identical.
func TestTwoServers(t *testing.T) {
	for _, kinds := range [][2]string{
		{device.Model, device.Model}, {device.Model, device.RTL}, {device.RTL, device.Model}, {device.RTL, device.RTL},
	} {
		t.Run(fmt.Sprintf("%s-%s", kinds[0], kinds[1]), func(t *testing.T) {
			dirs := [2]string{t.TempDir(), t.TempDir()}
			require.Equal(t, play(t, dirs[0], kinds, plain), play(t, dirs[1], kinds, plain))
			var logs [2][]byte
			for i, dir := range dirs {
				var err error
				logs[i], err = os.ReadFile(filepath.Join(dir, judge.EventsFile))
				require.NoError(t, err)
			}
			require.Equal(t, string(logs[0]), string(logs[1]))
			for _, name := range []string{"A", "B"} {
				require.Equal(t, 24, bytes.Count(logs[0], []byte(`{"kind":"frame_in","nic":"`+name+`"`)), name)
			}
			png, err := os.ReadFile(filepath.Join(dirs[0], judge.PcapngFile))
			require.NoError(t, err)
			for _, name := range []string{"golden A", "dut A", "golden B", "dut B"} {
				require.True(t, strings.Contains(string(png), name), name)
			}
		})
	}
}

// TestTwoServersBehindSwitches repeats TestTwoServers on cards with a PCIe switch and a root complex for each endpoint:
// their credits, contention and latencies must cause no false mismatch.
func TestTwoServersBehindSwitches(t *testing.T) {
	for _, preset := range board.SwitchPresetNames {
		for _, kinds := range [][2]string{{device.Model, device.Model}, {device.Model, device.RTL},
			{device.RTL, device.RTL}} {
			t.Run(fmt.Sprintf("%s/%s-%s", preset, kinds[0], kinds[1]), func(t *testing.T) {
				require.Equal(t, play(t, t.TempDir(), kinds, preset), play(t, t.TempDir(), kinds, preset))
			})
		}
	}
}
