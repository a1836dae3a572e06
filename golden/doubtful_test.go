package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// leastTimeout is the shortest CPL_TIMEOUT, in cycles [P6].
const leastTimeout = 1024

// inlineOf returns a Send of inline bytes, padded to a frame.
func inlineOf(id int, b ...byte) *nicspec.WqeFields {
	w := &nicspec.WqeFields{Opcode: nicspec.OpcodeSend, FPad: true, WqeId: uint32(id), InlineLen: uint8(len(b))}
	copy(w.Slots[:], b)
	return w
}

// twins records a run in which several entries of queue 0 send the same frame: slow entries whose reads complete
// after their timeout, then inline ones. An entry with a different frame follows.
func twins(t *testing.T, slow, inline int, complete bool) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCplTimeout, leastTimeout)
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(make([]byte, keySpan))
	m.OpenTx(0, 5)
	r.settle()
	for i := range slow {
		late := simcore.Ps(leastTimeout+100) * o.spec.Freq.Period()
		m.Strike(inject.Fault{From: keyBus + uint64(i)*0x1000, Delay: late})
		w := entryAt(i, 5)
		w.FComplete, w.FPad = complete, true
		m.push(0, w)
	}
	for i := range inline {
		m.push(0, inlineOf(100+i, 0, 0, 0, 0))
	}
	m.push(0, inlineOf(200, 1, 2, 3, 4))
	m.RingTx(0)
	r.settle()
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}

// A frame fits an entry whose read may have timed out, and later entries. The referee must accept every run in
// which the entry may have ended without a frame [P6].
func TestFrameOfEitherEntry(t *testing.T) {
	for _, slow := range []int{1, 2, 3} {
		for _, inline := range []int{1, 2, 5} {
			for _, complete := range []bool{false, true} {
				cfg, recorded := twins(t, slow, inline, complete)
				rep := judge(t, cfg, recorded)
				require.True(t, rep.Result == Pass, "%d slow, %d inline, f_complete %v: %v", slow, inline, complete,
					rep)
			}
		}
	}
}

// Entries with equal frames do not excuse the device: it must send each of their frames once, and then the
// frames behind them, in order.
func TestFrameOfEitherEntryIsRequired(t *testing.T) {
	cfg, recorded := twins(t, 1, 2, false)
	var frames []int
	for i := range recorded {
		if recorded[i].Frame != nil {
			frames = append(frames, i)
		}
	}
	require.Len(t, frames, 3)
	without := func(i int) []boundary.Crossing {
		return append(append([]boundary.Crossing{}, recorded[:i]...), recorded[i+1:]...)
	}
	require.False(t, judge(t, cfg, without(frames[0])).Result == Pass, "one twin is missing")
	require.False(t, judge(t, cfg, without(frames[2])).Result == Pass, "the last frame is missing")
	doubled := append([]boundary.Crossing{}, recorded[:frames[1]+1]...)
	doubled = append(append(doubled, recorded[frames[1]]), recorded[frames[1]+1:]...)
	require.False(t, judge(t, cfg, doubled).Result == Pass, "a twin too many")
}

// Two entries send the same frame to two ports; the read of the first has timed out. The port of the frame shows
// which entry sent it, whether the completion entry of the first leaves before or after the frame.
func TestPortShowsWhoseFrame(t *testing.T) {
	for _, complete := range []bool{false, true} {
		cfg, recorded := portTwins(t, complete)
		var frames []int
		for i := range recorded {
			if recorded[i].Kind == boundary.FrameOut {
				frames = append(frames, i)
			}
		}
		require.Len(t, frames, 2)
		first := frames[0]
		before := &recorded[first-1]
		require.Equal(t, boundary.TLPOut, before.Kind)
		require.Equal(t, nicspec.StatusCplTimeout, nicspec.TxCqe(before.TLP.Data).Status())
		late := append([]boundary.Crossing{}, recorded...)
		late[first-1], late[first] = recorded[first], *before
		late[first-1].First, late[first-1].Last = before.First, before.Last
		for _, order := range [][]boundary.Crossing{recorded, late} {
			rep := judge(t, cfg, order)
			require.True(t, rep.Result == Pass, "f_complete %v: %v", complete, rep)
		}
		late[first-1].Port = 0
		rep := judge(t, cfg, late)
		require.NotEqual(t, Pass, rep.Result, "on the other port it is entry 0's, which has failed")
		late = append([]boundary.Crossing{}, recorded...)
		late[frames[1]].Port = 1
		rep = judge(t, cfg, late)
		require.NotEmpty(t, rep.List)
		require.Equal(t, "T9", rep.List[0].Rule, "%v", rep)
	}
}

// portTwins records a run like that of `twins`, with one slow entry for port 0 and one inline entry for port 1.
func portTwins(t *testing.T, complete bool) (Config, []boundary.Crossing) {
	t.Helper()
	o := smallRig()
	o.spec.Ports = 2
	r := newRig(t, o)
	m := r.mem
	m.Write32(nicspec.RegCplTimeout, leastTimeout)
	m.Write32(nicspec.RegCtrl, 3)
	m.readable(make([]byte, keySpan))
	m.OpenTx(0, 5)
	r.settle()
	m.Strike(inject.Fault{From: keyBus, Delay: simcore.Ps(leastTimeout+100) * o.spec.Freq.Period()})
	w := entryAt(0, 5)
	w.FComplete, w.FPad = complete, true
	m.push(0, w)
	twin := inlineOf(100, 0, 0, 0, 0)
	twin.Port = 1
	m.push(0, twin)
	m.push(0, inlineOf(200, 1, 2, 3, 4))
	m.RingTx(0)
	r.settle()
	m.readCounters()
	return DefaultConfig(o.spec.Build), r.tape
}
