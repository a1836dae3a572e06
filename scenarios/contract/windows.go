package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

// windowChecks change the configuration while frames come in: which of them see what is for the referee to follow.
var windowChecks = []check{
	{"parsing/ROCE_PORT is written while frames come in", "R6 G8 H6 H7", stalled, rocePortMoves},
}

func rocePortMoves(r *rig) {
	r.receiveAll(2)
	x := r.openRx(2, 7, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.HdrBufSize = nicspec.SplitModeHeaders, 256 })
	r.post(x, x.Size())
	for i := range x.Size() / 2 {
		p := rocePacket(20 + i)
		r.play(p.build(), p.build())
		r.run(i % 40)
		port := uint32(nicspec.ResetRocePort)
		if i%2 == 0 {
			port++
		}
		r.write(nicspec.RegRocePort, port)
	}
	r.quiet()
	require.EqualValues(r.t, x.Size(), r.counters()[port(nicspec.CntRxDelivered)])
}
