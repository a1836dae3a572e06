package pcie

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// WindowChecks change the configuration while frames arrive. The referee decides which frames may be handled by the old
// value and which by the new one.
var WindowChecks = []kit.Check{
	{Name: "parsing/ROCE_PORT is written while frames come in", Rules: "R6 G8 H6 H7", Stalls: kit.Stalled,
		Run: rocePortMoves},
}

func rocePortMoves(r *kit.Rig) {
	r.ReceiveAll(2)
	x := r.OpenRx(2, 7, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.HdrBufSize = nicspec.SplitModeHeaders, 256 })
	r.Post(x, x.Size())
	for i := range x.Size() / 2 {
		p := kit.RocePacket(20 + i)
		r.Play(p.Build(), p.Build())
		r.Run(i % 40)
		port := uint32(nicspec.ResetRocePort)
		if i%2 == 0 {
			port++
		}
		r.Write(nicspec.RegRocePort, port)
	}
	r.Quiet()
	require.EqualValues(r.T, x.Size(), r.Counters()[kit.PortCounter(nicspec.CntRxDelivered)])
}
