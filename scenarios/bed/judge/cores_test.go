package judge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/inject"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/server/cpu"
	"nictwin/models/server/host"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
)

// onArm is a card whose driver runs on a core of its Arm side, with its referee.
type onArm struct {
	t     *testing.T
	card  *board.Card
	core  *host.Core
	d     *driver.Driver
	tx    *driver.TxQueue
	judge *judge.Judge

	payload int // endpoint whose memory holds payload

	got     [][]byte
	ended   int
	counted bool
}

// newOnArm places payload in the memory of an endpoint, and rings in Arm memory.
func newOnArm(t *testing.T, c *board.Card, payload int) *onArm {
	x := &onArm{t: t, card: c, payload: payload}
	var err error
	x.judge, err = judge.Attach(c.NIC, judge.Options{Name: c.Name, Build: twoPorts()})
	require.NoError(t, err)
	x.core, err = c.Memory.Host(nicspec.EndpointArm).Core(0, 3)
	require.NoError(t, err)
	bus, err := corebus.New(x.core.Core, c.Root.MMIO(nicspec.RequesterArm), corebus.DefaultSpec())
	require.NoError(t, err)
	o := driver.DefaultOptions()
	o.Build = twoPorts()
	x.d, err = driver.New(corebus.Apart{Bus: bus, Roots: [2]cpu.Registers{
		nicspec.EndpointArm:  c.Root.MMIO(nicspec.RequesterArm),
		nicspec.EndpointHost: c.Host.MMIO(nicspec.RequesterHost),
	}}, o)
	require.NoError(t, err)
	rx, err := x.d.OpenCopier(driver.RxConfig{QueueConfig: driver.QueueConfig{Queue: 2, LogSize: 5}, PayBytes: 2048},
		func(_ *driver.Copier, _ nicspec.RxCqe, hdr, pay []byte) {
			x.got = append(x.got, append(append([]byte(nil), hdr...), pay...))
		})
	require.NoError(t, err)
	require.NoError(t, x.d.SetDefault(driver.ToQueue(2)))
	x.tx, err = x.d.OpenTx(driver.TxConfig{
		QueueConfig: driver.QueueConfig{Queue: 1, LogSize: 6},
		OnEnd:       func(_ *driver.TxQueue, e *driver.TxEnd) { x.ended += e.N },
	})
	require.NoError(t, err)
	for range 32 {
		require.NoError(t, rx.Post(driver.Buffer{Pay: x.alloc(2048)}))
	}
	require.NoError(t, rx.Ring())
	x.d.Enable(true, true)
	return x
}

func twoPorts() nicspec.Build {
	b := nicspec.DefaultBuild()
	b.Ports, b.EthBits = 2, 256
	return b
}

func (x *onArm) alloc(n uint64) uint64 {
	at, err := x.d.Alloc(x.payload, n, 64)
	require.NoError(x.t, err)
	return at
}

// send stores frames from the core and posts them.
func (x *onArm) send(frames [][]byte) {
	const bytes = 1 << 16
	at := x.alloc(bytes)
	key, err := x.d.SetKey(driver.KeySpec{Index: 3, Variant: 7, Bus: at, Len: bytes, Rights: dma.Access{Read: true}})
	require.NoError(x.t, err)
	x.d.Then(func() {
		off := uint64(0)
		for i, f := range frames {
			require.NoError(x.t, x.core.Store(at+off, f))
			require.NoError(x.t, x.tx.Post(&driver.Send{
				Order:  driver.Order{ID: uint32(i), Complete: true},
				Pieces: []driver.Span{{Key: key, Off: off, Len: uint32(len(f))}},
			}))
			off += uint64(len(f))
		}
		x.core.Fence() // payload is in memory before the doorbell
		require.NoError(x.t, x.tx.Ring())
	})
}

func untouched(*board.NetworkSpec) {}

// playOnArm runs the drivers of two cards on cores of their Arm sides, which send to each other. It returns the
// referees' digests, and the time at which the last frame had been received.
func playOnArm(t *testing.T, kinds [2]board.DeviceKind, network board.NetworkKind, strike func(*board.NetworkSpec),
	payload int) ([2]string, simcore.Ps) {
	h, err := hometest.Find()
	require.NoError(t, err)
	s, err := board.RackPreset("bf3-cores-pair")
	require.NoError(t, err)
	macs := [2]core.MAC{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}
	if network == board.NetworkSwitch {
		fleet, err := board.RackPreset("bf2-fleet")
		require.NoError(t, err)
		s.Network = fleet.Network
		s.Network.Switch.Table = []core.Entry{{MAC: macs[0], Port: 0}, {MAC: macs[1], Port: 2}}
	}
	strike(&s.Network)
	for i := range kinds {
		s.Servers[i].Cards[0].Device.Kind = kinds[i]
	}
	e, over := simcore.NewEngine(), false
	r, err := board.NewRack(e, new(board.Pools), s,
		device.Slots(device.Spec{NIC: device.Model, DUT: h.Path("nic"), Variant: "speed"}, nil))
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	var two [2]*onArm
	var sent [2][][]byte
	for i, c := range r.Cards() {
		require.NoError(t, c.NIC.Begin(func() bool { return over }))
		two[i] = newOnArm(t, c, payload)
		for k := range 24 {
			f := nictest.Pattern(64+k*50+i, uint64(100*i+k))
			copy(f, append(macs[1-i][:], macs[i][:]...))
			f[12], f[13] = 0x08, 0x01 // EtherType other than IP: the NIC does not parse the frame further
			sent[i] = append(sent[i], f)
		}
		two[i].send(sent[i])
	}
	whole := func() bool {
		return len(two[0].got) == 24 && len(two[1].got) == 24 && two[0].ended == 24 && two[1].ended == 24
	}
	for n := 0; n < 200 && !whole(); n++ {
		require.NoError(t, e.RunUntil(e.Now()+10*simcore.Microsecond))
	}
	took := e.Now()
	require.True(t, whole(), "received %d and %d, sent %d and %d", len(two[0].got), len(two[1].got), two[0].ended,
		two[1].ended)
	require.NoError(t, e.RunUntil(e.Now()+100*simcore.Microsecond)) // buffers are posted again
	for _, x := range two {                                         // the referees compare the counters
		x.d.ReadCounters(func(driver.Counters) { x.counted = true })
	}
	require.NoError(t, e.RunUntil(e.Now()+100*simcore.Microsecond))
	over = true
	require.NoError(t, e.Run())
	require.NoError(t, r.Err())
	var digests [2]string
	for i, x := range two {
		require.NoError(t, x.d.Err())
		require.Equal(t, sent[1-i], x.got)
		rep := x.judge.Finish(judge.Whole)
		require.True(t, rep.Passed(), "%s: %v", x.card.Name, rep)
		require.EqualValues(t, 24, rep.Stats.Delivered)
		require.EqualValues(t, 24, rep.Stats.FramesOut)
		require.True(t, x.counted && x.card.Idle())
		require.NotZero(t, x.core.Stats().StoreBytes, "the driver's stores are the core's")
		digests[i] = rep.Digest
	}
	return digests, took
}

// TestDriverOnArmCoresWithPayloadInTheHost runs the driver on Arm cores with payload in host memory, which cores write
// and read through the switch, with either NIC. The driver must see all bytes that the NIC wrote there, and take longer
// than with payload in Arm memory.
func TestDriverOnArmCoresWithPayloadInTheHost(t *testing.T) {
	for _, kinds := range [][2]board.DeviceKind{{board.DeviceModel, board.DeviceModel},
		{board.DeviceModel, board.DeviceRTL}} {
		_, near := playOnArm(t, kinds, board.NetworkBackToBack, untouched, nicspec.EndpointArm)
		_, far := playOnArm(t, kinds, board.NetworkBackToBack, untouched, nicspec.EndpointHost)
		require.Greater(t, far, near+simcore.Microsecond)
	}
}

// TestDriverOnArmCores runs the driver on Arm cores of whole boards, through their private caches, the last-level cache
// and the IIO buffer. It sends and receives with the Go NIC and the RTL NIC, back to back and over an Ethernet switch,
// and no referee reports a mismatch.
func TestDriverOnArmCores(t *testing.T) {
	for _, network := range []board.NetworkKind{board.NetworkBackToBack, board.NetworkSwitch} {
		for _, kinds := range [][2]board.DeviceKind{{board.DeviceModel, board.DeviceModel},
			{board.DeviceModel, board.DeviceRTL}} {
			t.Run(string(network)+"/"+string(kinds[0]+"-"+kinds[1]), func(t *testing.T) {
				digests, took := playOnArm(t, kinds, network, untouched, nicspec.EndpointArm)
				again, tookAgain := playOnArm(t, kinds, network, untouched, nicspec.EndpointArm)
				require.Equal(t, digests, again)
				require.Equal(t, took, tookAgain)
				// A cable with a fault model that never strikes must not change the run, although it affects how far
				// devices may run ahead.
				for _, strike := range []func(*board.NetworkSpec){
					func(n *board.NetworkSpec) { n.Loss = &inject.LossSpec{Seed: 7} },
					func(n *board.NetworkSpec) { n.Faults = &inject.WireSpec{Seed: 7} },
				} {
					again, tookAgain = playOnArm(t, kinds, network, strike, nicspec.EndpointArm)
					require.Equal(t, digests, again)
					require.Equal(t, took, tookAgain)
				}
			})
		}
	}
}
