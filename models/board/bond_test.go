package board

import (
	"fmt"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

// bonded returns a lab of two cards with one port each, joined by the given network.
func bonded(t *testing.T, a, b, network string) *lab {
	const card = "{name: %s, preset: bf2, cards: [{preset: bf2, ports: 1%s}]}"
	return newLab(t, fmt.Sprintf("name: Lab\nservers: ["+card+", "+card+"]\nnetwork: {%s}", "A", a, "B", b, network))
}

// tally counts the frames that port `from` sends over its cable.
type tally struct {
	frames int
	from   sim.Port
}

// Func implements sim.Hook.
func (c *tally) Func(ctx sim.HookCtx) {
	if f, ok := ctx.Item.(*msg.Frame); ok && ctx.Pos == sim.HookPosConnStartSend && f.Src == c.from {
		c.frames++
	}
}

// flows sends frames of many flows from the first NIC, as fast as the port takes them, and returns
// when the last one was received.
func (l *lab) flows(n, bytes int) simcore.Ps {
	for i := range n {
		f := append([]byte("\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x12\x34"), make([]byte, bytes-14)...)
		f[10], f[14] = byte(i%64), byte(i) // source address, and a number
		for l.nics[0].eth[0].SendAt(l.pools.Frames.Copy(f), l.Now()) != nil {
			require.NoError(l.t, l.RunUntil(l.Now()+simcore.Nanosecond))
		}
	}
	l.run()
	require.Len(l.t, l.nics[1].seqs, n, "no frame is lost")
	return l.Now()
}

// With a bond of two cables at a port, both must carry frames, at the sum of their rates, and each
// flow must keep its order; a frame must take as long as over one cable.
func TestBonds(t *testing.T) {
	const pair, fleet = "kind: back_to_back, latency_ps: 25000",
		"kind: switch, latency_ps: 10000, switch: {preset: cut-through}"
	const bond = ", bond: {cables: 2}"
	for _, network := range []string{pair, fleet, pair + ", faults: {seed: 3}", fleet + ", faults: {seed: 3}",
		fleet + ", loss: {share: 0}"} {
		one, two := bonded(t, "", "", network), bonded(t, bond, bond, network)
		require.Equal(t, one.flows(1, 64), two.flows(1, 64), network)
		var counts []*tally
		for _, c := range two.rack.Cables {
			counts = append(counts, &tally{from: c.Ports[0]}, &tally{from: c.Ports[1]})
			for d, link := range c.Entry {
				link.AcceptHook(counts[len(counts)-2+d])
			}
		}
		const n = 400
		two.nics[1].seqs, one.nics[1].seqs = nil, nil
		begin := two.Now()
		slow, fast := one.flows(n, 1500)-begin, two.flows(n, 1500)-begin
		require.Less(t, fast, slow*65/100, network)
		require.Equal(t, n, counts[0].frames+counts[2].frames)
		require.InDelta(t, n/2, counts[0].frames, n/8, network)
		if two.rack.Switch != nil { // counts of B's cables follow those of A's
			require.Equal(t, n, counts[5].frames+counts[7].frames, "the switch spreads them, too")
			require.InDelta(t, n/2, counts[5].frames, n/4, network)
		}
		last := map[byte]byte{}
		for _, f := range two.nics[1].seqs {
			if before, ok := last[f[10]]; ok {
				require.Equal(t, before+64, f[14], "flow %d", f[10])
			}
			last[f[10]] = f[14]
		}
	}
}

// The device in the slot must know the rate of the whole bond, and the latency of its own link.
func TestSlotsOfBonds(t *testing.T) {
	l := bonded(t, ", bond: {cables: 4}", ", bond: {cables: 4}", "kind: back_to_back")
	require.Equal(t, simcore.Gbps(400), l.nics[0].slot.Eth.Rate)
	require.Equal(t, 150*simcore.Nanosecond, l.nics[0].slot.Eth.Latency)
	require.Len(t, l.rack.Cables, 4)
	require.Len(t, l.rack.Bonds, 2)
}
