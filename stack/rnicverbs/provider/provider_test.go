package provider_test

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/drivertest"
	"nictwin/stack/driver/rootbus"
	"nictwin/stack/rnicverbs"
	"nictwin/stack/rnicverbs/provider"
	"nictwin/stack/verbs"
	"nictwin/stack/verbs/verbstest"
)

// slotted makes an rnic fit into a card's NIC slot.
type slotted struct{ *rnic.Comp }

func (s slotted) Period() simcore.Ps      { return s.Spec().Freq.Period() }
func (s slotted) EthBits() int            { return 0 }
func (s slotted) Begin(func() bool) error { return nil }
func (s slotted) Check() error            { return s.Err() }
func (s slotted) Cycles() int64           { return s.Cycle() }
func (s slotted) Close() error            { return nil }

// TestContract runs the verbs contract on two cards with an rnic each, driven from their Arms, on one cable. Software's
// accesses end at once, or later.
func TestContract(t *testing.T) {
	for name, late := range map[string]simcore.Ps{
		"rnic": 0, "rnic late": 70 * simcore.Nanosecond, "rnic very late": 5 * simcore.Microsecond,
	} {
		verbstest.RunContract(t, name, func(t *testing.T) *verbstest.Bench {
			b, _ := newBenchOn(t, func(e *simcore.Engine, b driver.Bus) driver.Bus {
				if late == 0 {
					return b
				}
				return &drivertest.Late{Bus: b,
					Soon: func(f func()) { e.Schedule(&simcore.Event{At: simcore.Now(e) + late, H: call(f)}) }}
			})
			return b
		})
	}
}

// call is a handler that calls a function.
type call func()

// Handle implements sim.Handler.
func (f call) Handle(sim.Event) error { f(); return nil }

// newBenchOn connects two cards with an rnic each; bus wraps the bus of each driver.
func newBenchOn(t testing.TB, bus func(*simcore.Engine, driver.Bus) driver.Bus) (*verbstest.Bench,
	[2]*rnicverbs.Device) {
	e, pools := simcore.NewEngine(), new(board.Pools)
	b := &verbstest.Bench{Settle: e.Run}
	var cards [2]*board.Card
	var devs [2]*rnicverbs.Device
	for i := range b.Sides {
		cards[i] = newCard(t, e, pools, byte(i))
	}
	eth := simcore.LinkSpec{Latency: 100 * simcore.Nanosecond, Rate: simcore.Gbps(100), Credits: 1024,
		CreditLatency: 100 * simcore.Nanosecond, OverheadBytes: 24}
	require.NoError(t, board.Cable("Cable", e, eth, cards[0].NIC.Eth(0), cards[1].NIC.Eth(0)))
	for i := range b.Sides {
		b.Sides[i], devs[i] = newSide(t, cards[i], byte(i), func(b driver.Bus) driver.Bus { return bus(e, b) })
		require.NoError(t, e.Run())
		require.NoError(t, devs[i].Err())
	}
	return b, devs
}

func newCard(t testing.TB, e *simcore.Engine, pools *board.Pools, n byte) *board.Card {
	spec, err := board.CardPreset("bf2")
	require.NoError(t, err)
	spec.Name, spec.EthBits = "Card["+string('0'+rune(n))+"]", 0
	spec.Endpoint.Ahead = 0
	nic, err := rnic.Preset("bluefield2")
	require.NoError(t, err)
	nic.Limits[1] = nic.Limits[0] // the host root has the same limits as the Arm's
	card, err := board.NewCard(e, pools, spec, func(s board.Slot) (board.NIC, error) {
		c, err := rnic.Builder{Scheduler: s.Engine, Spec: nic, Frames: s.Frames, TLPs: s.TLPs}.Build(s.Name)
		return slotted{c}, err
	})
	require.NoError(t, err)
	return card
}

func mac(n byte) [6]byte { return [6]byte{2, 0, 0, 0, 0, n} }

func gid(n byte) [16]byte { return [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1 + n} }

func newSide(t testing.TB, card *board.Card, n byte, wrap func(driver.Bus) driver.Bus) (verbstest.Side,
	*rnicverbs.Device) {
	bus := wrap(rootbus.Bus{Regs: card.Root.MMIO(nicspec.RequesterArm), Memory: card.Memory})
	dev, err := rnicverbs.Open(bus, driver.NewArena(1<<20, 8<<20))
	require.NoError(t, err)
	var ports []verbs.PortAttr
	for p := range uint8(2) {
		a := verbs.PortAttr{Active: true, MaxMTU: verbs.MTU4096, ActiveMTU: verbs.MTU4096,
			MaxMessage: rnicspec.MaxMessage, MAC: mac(n + 10*p), GID: gid(n + 10*p)}
		ports = append(ports, a)
		dev.SetPort(rnicspec.SetPort{Port: p, MAC: a.MAC, IP: [16]byte{10, 0, 0, a.GID[15]}})
	}
	spec := provider.Spec{Ports: ports, MTU: verbs.MTU4096}
	if _, ok := bus.(driver.Deferrer); ok {
		spec.Burst = 1
	}
	c, err := provider.New(dev, spec)
	require.NoError(t, err)
	return verbstest.Side{
		Context: c, Memory: card.Memory, Base: 16 << 20, Bytes: 4 << 20, Port: 1,
		Peer: verbs.AHAttr{Port: 1, GID: gid(1 - n), MAC: mac(1 - n), HopLimit: 64},
	}, dev
}
