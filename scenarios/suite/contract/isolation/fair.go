package isolation

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/traffic"
)

// FairChecks flood one port while the other receives a frame now and then.
var FairChecks = []kit.Check{
	{Name: "ports/turns in receive, last port flooded", Rules: "R13 C3", Stalls: kit.Stalled,
		Run: func(r *kit.Rig) { turns(r, 0, false) }},
	{Name: "ports/turns in receive, first port flooded", Rules: "R13 C3", Stalls: kit.Stalled,
		Run: func(r *kit.Rig) { turns(r, 1, false) }},
	{Name: "ports/turns in receive, last port flooded with what is dropped", Rules: "R13 C3", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { turns(r, 0, true) }},
	{Name: "ports/turns in receive, first port flooded with what is dropped", Rules: "R13 C3", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { turns(r, 1, true) }},
}

// turnWatch counts the frames of the flooded port that leave the receive buffer while a frame of the other port waits
// in it.
type turnWatch struct {
	came  []int64 // cycle of the last beat of each frame of the other port
	taken int     // number of the other port's frames that have left the buffer
	since []int   // by frame of the other port: how many flood frames left the buffer while that frame waited there
	worst int
}

// turns floods a port with more frames than the device can write; each is written in three parts or, if `drop` is true,
// dropped. It plays some frames on the other port, one at a time. Each of these must leave the buffer after at most as
// many flood frames as [R13] allows, and long before the flood ends.
func turns(r *kit.Rig, flooded int, drop bool) {
	const few, many = 24, 6000
	calm := 1 - flooded
	r.Write(nicspec.RegCtrl, 1)
	dense, err := traffic.ParsePace("beats", r.Sizes.EthBits, r.Bed.NIC.Period())
	require.NoError(r.T, err)
	require.NoError(r.T, r.Player(flooded).Load(traffic.Track{Pace: dense}))
	split := func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 30 }
	full, other := r.OpenRx(1, 13, split), r.OpenRx(2, 6, nil)
	if drop {
		r.Post(full, 2) // descriptors for two frames only: all others are dropped
	} else {
		r.Post(full, many)
	}
	r.Post(other, few)
	portRule(r, 0, flooded, nicspec.ActionQueue, 1)
	portRule(r, 1, calm, nicspec.ActionQueue, 2)
	w := &turnWatch{}
	r.Watch = func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		switch {
		case c.Kind != boundary.TLPOut || h.Kind != tlp.MWr || len(c.TLP.Data) != nicspec.CqeBytes:
		case h.Address >= other.CQ && h.Address < other.CQ+uint64(other.CQBytes()):
			w.worst = max(w.worst, w.since[w.taken])
			w.taken++
		case h.Address >= full.CQ && h.Address < full.CQ+uint64(full.CQBytes()):
			for i := w.taken; i < len(w.came); i++ {
				w.since[i]++
			}
		}
	}
	r.Frames = func(c boundary.Crossing) {
		if c.Kind == boundary.FrameIn && c.Port == r.PortOf(calm) {
			w.came, w.since = append(w.came, c.Last), append(w.since, 0)
		}
	}
	first := r.Player(calm).Total()
	for i := range many {
		r.PlayOn(flooded, kit.Blob(60+i%5, uint64(i)))
	}
	r.Run(400) // until the buffer is full
	for i := range few {
		r.PlayOn(calm, kit.Blob(60+i*13, uint64(i)))
		r.Until("a frame of the other port is taken out", func() bool { return w.taken > i })
		require.Less(r.T, r.Player(flooded).Sent(), many, "flood frames received before frame %d of the "+
			"other port was taken out", i)
		r.Run(20)
	}
	r.Watch, r.Frames = nil, nil
	require.LessOrEqual(r.T, w.worst, nicspec.FairFrames, "frames of the flooded port taken out while one "+
		"of the other port waited")
	for i := range few {
		r.DeliveredOf(calm, other, first+i, 1)
	}
	r.Quiet()
}
