package hostnet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
)

// TestMark checks the bits that Marker sets, of IPv4 and IPv6, and the packets that it and SetCE leave alone.
func TestMark(t *testing.T) {
	space, err := mem.NewSpace(1<<16, 1<<16)
	require.NoError(t, err)
	e := simcore.NewEngine()
	spec, err := cpu.Preset("host-ce")
	require.NoError(t, err)
	core, err := cpu.Builder{Scheduler: e, Spec: spec, Memory: space}.Build("Core")
	require.NoError(t, err)
	const at = 0x1000
	for name, x := range map[string]struct {
		first, second byte // of the IP header
		packet        Packet
		want          byte // second byte afterwards
		marked        bool
	}{
		"IPv4, ECT(0)":     {0x45, 0x02, Packet{Good: true, L3: 14, L4: 34}, 0x03, true},
		"IPv4, ECT(1)":     {0x45, 0xb9, Packet{Good: true, L3: 14, L4: 34}, 0xbb, true},
		"IPv4, not ECT":    {0x45, 0xb8, Packet{Good: true, L3: 14, L4: 34}, 0xb8, false},
		"IPv4, marked":     {0x45, 0x03, Packet{Good: true, L3: 14, L4: 34}, 0x03, false},
		"IPv6, ECT(0)":     {0x60, 0x20, Packet{Good: true, L3: 14, L4: 54}, 0x30, true},
		"IPv6, not ECT":    {0x60, 0x8f, Packet{Good: true, L3: 14, L4: 54}, 0x8f, false},
		"broken":           {0x45, 0x02, Packet{L3: 14, L4: 34}, 0x02, false},
		"no UDP":           {0x45, 0x02, Packet{Good: true, L3: 14}, 0x02, false},
		"headers split":    {0x45, 0x02, Packet{Good: true, L3: 14, L4: 34, HdrLen: 42}, 0x03, true},
		"header elsewhere": {0x45, 0x02, Packet{Good: true, L3: 18, L4: 38, HdrLen: 18}, 0x03, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := x.packet
			cqe := make(nicspec.RxCqe, nicspec.CqeBytes)
			cqe.SetIpTos(x.first<<4 | x.second>>4)
			if x.first>>4 == 4 {
				cqe.SetIpTos(x.second)
			}
			require.Equal(t, x.marked, p.SetCE(cqe))
			require.Equal(t, x.marked, p.CE)
			p.Hdr, p.Pay, p.PayLen = at, at+0x800, 100
			header := []byte{x.first, x.second, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}
			require.NoError(t, space.Write(p.At(p.L3), header))
			var m Marker
			marked, err := m.Mark(core, &p)
			require.NoError(t, err)
			require.Equal(t, x.marked, marked)
			require.NoError(t, e.Run())
			got := make([]byte, len(header))
			require.NoError(t, space.Read(p.At(p.L3), got))
			require.Equal(t, x.want, got[1])
			require.Equal(t, []byte{9, 9}, got[2:4])
		})
	}
}
