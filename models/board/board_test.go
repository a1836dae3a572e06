package board

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// goNIC adapts the Go NIC to the board's slot.
type goNIC struct {
	*nic.Comp
	closed *int
}

func (n goNIC) Period() simcore.Ps      { return n.Spec().Freq.Period() }
func (n goNIC) EthBits() int            { return n.Spec().EthBits }
func (n goNIC) Begin(func() bool) error { return nil }
func (n goNIC) Check() error            { return nil }
func (n goNIC) Cycles() int64           { return n.Cycle() }
func (n goNIC) Close() error            { *n.closed++; return nil }

func factory(closed *int) Factory {
	return func(s Slot) (NIC, error) {
		spec := nic.DefaultSpec()
		spec.Ports, spec.Freq.PeriodPs = s.Ports, s.Period
		c, err := nic.Builder{Scheduler: s.Engine, Spec: spec, Frames: s.Frames, TLPs: s.TLPs}.Build(s.Name)
		if err != nil {
			return nil, err
		}
		return goNIC{c, closed}, nil
	}
}

func card(name string) CardSpec {
	link := simcore.LinkSpec{Latency: 100 * simcore.Nanosecond, Credits: 64, CreditLatency: 100 * simcore.Nanosecond}
	return CardSpec{Name: name, PCIe: link, Eth: link, Endpoint: DefaultEndpoint()}
}

// TestServers assembles two servers on one engine, one of them with two cards of different clocks.
// Each card's software must read the registers of its own NIC.
func TestServers(t *testing.T) {
	e, pools, closed := simcore.NewEngine(), new(Pools), 0
	fast := card("Card[1]")
	fast.Period = 909
	a, err := NewServer(e, pools, ServerSpec{Name: "A", Cards: []CardSpec{card("Card[0]"), fast}}, factory(&closed),
		factory(&closed))
	require.NoError(t, err)
	b, err := NewServer(e, pools, ServerSpec{Name: "B", Cards: []CardSpec{card("Card")}}, factory(&closed))
	require.NoError(t, err)
	require.NoError(t, Cable("Cable", e, card("").Eth, a.Cards[0].NIC.Eth(0), b.Cards[0].NIC.Eth(0)))
	require.ErrorContains(t, Cable("Twice", e, card("").Eth, a.Cards[1].NIC.Eth(0), b.Cards[0].NIC.Eth(0)),
		"port B.Card.NIC.Eth[0] has a cable already")
	require.ErrorContains(t, Cable("Loop", e, card("").Eth, a.Cards[1].NIC.Eth(0), a.Cards[1].NIC.Eth(0)),
		"want two ports")
	ids := map[string]uint64{}
	for _, c := range append(a.Cards, b.Cards...) {
		require.NoError(t, c.Root.MMIO(nicspec.RequesterArm).Read(nicspec.RegId, 4, func(v uint64, err error) {
			require.NoError(t, err)
			ids[c.Name] = v
		}))
	}
	require.NoError(t, e.Run())
	id := uint64(nicspec.ResetId)
	require.Equal(t, map[string]uint64{"A.Card[0]": id, "A.Card[1]": id, "B.Card": id}, ids)
	require.EqualValues(t, 909, a.Cards[1].NIC.Period())
	require.True(t, a.Cards[0].Idle())
	require.NoError(t, errors.Join(a.Close(), b.Close()))
	require.Equal(t, 3, closed)
}

func TestSpecsNameEveryField(t *testing.T) {
	bad := card("card")
	bad.Ports, bad.Stall, bad.Burst, bad.Period, bad.PCIe.Credits, bad.Eth.Latency, bad.Endpoint.Tags = 3, 95, 11, -1,
		-1, -1, 0
	bad.EthBits, bad.Build, bad.Endpoint.ArmBytes, bad.Endpoint.Limits.RCB, bad.Endpoint.Delay.Jitter = 100,
		&nicspec.Build{Ports: 1}, 0, 1, -1
	s := ServerSpec{Name: "a b", Cards: []CardSpec{card("Card"), bad, card("Card")}}
	err := s.Validate()
	for _, want := range []string{
		`name "a b": want a capital letter`, `cards[1].name "card": want`, "cards[1].ports 3: want 1 to 2",
		"cards[1].eth_bits 100: want 256, 512 or 1024", "cards[1].stall 95: want 0 to 90 percent",
		"cards[1].burst 11: want 0 to 10", "cards[1].period_ps -1: want",
		"cards[1].build.num_rxq 0: want", "cards[1].pcie.credits -1: want", "cards[1].eth.latency_ps -1: want",
		"cards[1].endpoint.tags 0: want", "cards[1].endpoint.limits.rcb 1: want 64 or 128",
		"cards[1].endpoint.arm_bytes 0: want",
		"cards[1].endpoint.delay.jitter_ps -1: want", `cards[2].name "Card": cards[0] has that name already`,
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = NewServer(simcore.NewEngine(), new(Pools), s)
	require.ErrorContains(t, err, "server a b: ")
	s = ServerSpec{Name: "A", Cards: []CardSpec{card("Card")}}
	_, err = NewServer(simcore.NewEngine(), new(Pools), s)
	require.ErrorContains(t, err, "0 factories for 1 cards")
	require.ErrorContains(t, (&ServerSpec{Name: "A"}).Validate(), "cards: none")
}

// A server that fails half-way through assembly must close the cards that it has built.
func TestHalfBuiltServersAreClosed(t *testing.T) {
	closed := 0
	broken := func(Slot) (NIC, error) { return nil, errors.New("no such device") }
	s := ServerSpec{Name: "A", Cards: []CardSpec{card("Card[0]"), card("Card[1]")}}
	_, err := NewServer(simcore.NewEngine(), new(Pools), s, factory(&closed), broken)
	require.ErrorContains(t, err, "no such device")
	require.Equal(t, 1, closed)
}
