package replay

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/rtlbridge"
	"nictwin/scenarios/bed/device"
)

// onBoard returns options that replay the shipped captures on a preset of a card.
func onBoard(t *testing.T, nic, preset string, stall int) Options {
	t.Helper()
	c, err := board.CardPreset(preset)
	require.NoError(t, err)
	o := options(nic, shipped(t))
	o.Card, o.Ports, o.EthBits, o.Stall = &c, c.Ports, c.EthBits, stall
	return o
}

func playOn(t *testing.T, o Options) (*Run, *Result) {
	t.Helper()
	r, err := New(context.Background(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	res, err := r.Play()
	require.NoError(t, err)
	require.True(t, res.Pass, "%+v", res.Findings)
	return r, res
}

// longer returns the value of NICTWIN_LONG, by which tests multiply their length; 1 if it is not set.
func longer() int {
	n, err := strconv.Atoi(os.Getenv("NICTWIN_LONG"))
	if err != nil {
		return 1
	}
	return n
}

// If cables are slower than the NIC's streams, frames of one queue reach two ports in another order than they left the
// NIC. The replay accepts that.
func TestPortsOvertakeOnBoards(t *testing.T) {
	for _, preset := range board.SwitchPresetNames {
		o := onBoard(t, device.Model, preset, 0)
		o.Dir, o.Loop = "tx", 6
		playOn(t, o)
	}
}

// A frame that leaves by the wrong port is matched with the frame expected from the other port, so that it is reported
// as such, whatever else its queue has in flight.
func TestExpectedByPort(t *testing.T) {
	frame := func(port int, data string) expected { return expected{port: port, data: []byte(data)} }
	fresh := func() *txQueue {
		return &txQueue{expect: []expected{frame(0, "a"), {fail: true, port: 1}, frame(1, "b"), frame(0, "c"),
			frame(1, "d")}}
	}
	for _, x := range []struct {
		name string
		come string // port and content of each received frame, in order
		want string // content that was expected, "-" for none
	}{
		{"in order", "0a1b0c1d", "abcd"},
		{"a port ahead", "1b1d0a0c", "bdac"},
		{"of a port out of order", "0c0a", "ac"},
		{"wrong port", "1a1b", "ab"},
		{"one too many", "0a0c1b1d1e", "acbd-"},
		{"port has no more", "0a0c0b", "acb"},
	} {
		q, got := fresh(), ""
		for i := 0; i < len(x.come); i += 2 {
			if e := q.take(int(x.come[i]-'0'), []byte(x.come[i+1:i+2])); e != nil {
				got += string(e.data)
			} else {
				got += "-"
			}
		}
		require.Equal(t, x.want, got, x.name)
	}
}

// On a whole card, with credits, a switch shared by both endpoints, caches and DRAM, the referee has no finding about
// either NIC. At a pace that software keeps up with, both NICs deliver the same frames.
func TestWholeBoards(t *testing.T) {
	for _, preset := range board.SwitchPresetNames {
		for _, speed := range []string{"10", "line"} {
			stall := 0
			if speed == "line" {
				stall = 30
			}
			var frames [][]int
			for _, nic := range []string{device.Model, device.RTL} {
				o := onBoard(t, nic, preset, stall)
				o.Loop, o.Speed = longer(), speed
				r, res := playOn(t, o)
				if speed != "line" {
					for _, d := range res.Rx.Drops {
						require.True(t, d.Count == 0 || d.Cause == "RX_DROP_RUNT", "%s: %v", preset, d)
					}
				}
				frames = append(frames, res.Rx.PerQueue)
				m := r.bed.Memory
				require.NotZero(t,
					m.DRAM(nicspec.EndpointArm).Counters().Reads+m.DRAM(nicspec.EndpointArm).Counters().Writes)
				require.True(t, r.bed.Idle())
				in, out := r.bed.Switch.Balance()
				require.Equal(t, in, out, "every byte that went into the switch came out")
			}
			if speed != "line" {
				require.Equal(t, frames[0], frames[1], preset)
			}
		}
	}
}

// The latency of a card's links admits several quanta of the bridge, and the digest does not depend on which one is
// chosen.
func TestQuantaOnBoards(t *testing.T) {
	digests := map[string]bool{}
	for _, quantum := range []uint32{0, 17, 64} {
		for _, serial := range []bool{false, true} {
			o := onBoard(t, device.RTL, "bf3", 20)
			o.Quantum, o.Serial, o.Dir, o.Limit = quantum, serial, "both", 200
			_, res := playOn(t, o)
			digests[res.Digest] = true
		}
	}
	require.Len(t, digests, 1)
	c, err := board.CardPreset("bf3")
	require.NoError(t, err)
	require.GreaterOrEqual(t, rtlbridge.MaxQuantum(c.Period, rtlbridge.Pipelined, c.PCIe.Latency, c.PCIe.Latency),
		uint32(64))
}
