package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

func TestPauseFrames(t *testing.T) {
	mac := [6]byte{2, 3, 4, 5, 6, 7}
	cfg := nicspec.PortEntryFields{TxMode: nicspec.PauseModePause, TxClasses: 0x82}
	var f [nicspec.FrameMin]byte
	BuildPause(&cfg, mac, 0x1234, &f)
	want := append([]byte{1, 0x80, 0xc2, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0x88, 8, 0, 1, 0x12, 0x34}, make([]byte, 42)...)
	require.Equal(t, want, f[:])
	p, ok := ParsePause(f[:])
	require.True(t, ok)
	require.Equal(t, PauseFrame{Quanta: [8]uint16{0x1234}}, p)

	cfg.TxMode = nicspec.PauseModePriority
	BuildPause(&cfg, mac, 0x1234, &f)
	want = append([]byte{1, 0x80, 0xc2, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0x88, 8, 1, 1, 0, 0x82, 0, 0, 0x12, 0x34},
		make([]byte, 38)...)
	want[32], want[33] = 0x12, 0x34
	require.Equal(t, want, f[:])
	p, ok = ParsePause(f[:])
	require.True(t, ok)
	require.Equal(t, PauseFrame{Priority: true, Classes: 0x82, Quanta: [8]uint16{1: 0x1234, 7: 0x1234}}, p)

	for _, at := range []int{0, 5, 12, 13, 14, 15} {
		g := f
		g[at] ^= 8
		_, ok = ParsePause(g[:])
		require.False(t, ok, "byte %d", at)
	}
}

func TestHonouredPauses(t *testing.T) {
	var port, class [nicspec.FrameMin]byte
	BuildPause(&nicspec.PortEntryFields{TxMode: nicspec.PauseModePause}, [6]byte{}, 9, &port)
	BuildPause(&nicspec.PortEntryFields{TxMode: nicspec.PauseModePriority, TxClasses: 1}, [6]byte{}, 9, &class)
	c := Config{RxEnable: true, DefaultAction: nicspec.ActionQueue}
	drop := func(frame []byte) nicspec.PortCounter {
		var v RxVerdict
		c.Classify(1, frame, &v)
		require.Equal(t, v.Drop, c.Front(1, frame))
		return v.Drop
	}
	for _, rules := range []PauseRules{{}, {Port: true}, {Classes: 0x80}, {Port: true, Classes: 2}} {
		c.Pause[1] = rules
		require.Equal(t, rules.Port, drop(port[:]) == nicspec.CntRxPause)
		require.Equal(t, rules.Classes != 0, drop(class[:]) == nicspec.CntRxPause)
	}
	require.Equal(t, nicspec.CntRxDropRunt, drop(port[:59]))
	c.RxEnable = false
	require.Equal(t, nicspec.CntRxDropDisabled, drop(port[:]))
	require.NotContains(t, nicspec.DropCounters, nicspec.CntRxPause)
}

func TestPortCfgValues(t *testing.T) {
	spec := nicspec.DefaultBuild()
	spec.Parts = nicspec.PartPause
	r := NewRegs(spec)
	write := func(port int, f nicspec.PortEntryFields) nicspec.TableStatus {
		var b [nicspec.PortEntrySize]byte
		f.Encode(b[:])
		return r.commit(nicspec.TablePortCfg, port, b[:]).Status
	}
	good := nicspec.PortEntryFields{TxMode: nicspec.PauseModePause, PauseTime: 64, Xoff: 65536, Xon: 65535}
	require.Equal(t, nicspec.TableStatusOk, write(0, good))
	require.Equal(t, good, *r.PortCfg(0))
	for _, change := range []func(f *nicspec.PortEntryFields){
		func(f *nicspec.PortEntryFields) { f.RxPause = 2 },
		func(f *nicspec.PortEntryFields) { f.TxMode = 3 },
		func(f *nicspec.PortEntryFields) { f.PauseTime = 63 },
		func(f *nicspec.PortEntryFields) { f.Xoff++ },
		func(f *nicspec.PortEntryFields) { f.Xon++ },
	} {
		f := good
		change(&f)
		require.Equal(t, nicspec.TableStatusBadValue, write(0, f), "%+v", f)
	}
	require.Equal(t, nicspec.TableStatusOk, write(0, nicspec.PortEntryFields{Xon: 1 << 20}), "nothing is sent")
	require.Equal(t, nicspec.TableStatusBadIndex, write(1, good))
	r.Write32(nicspec.RegPortMac(0), 0x04030201)
	r.Write32(nicspec.RegPortMac(1), 0x0605)
	r.Write32(nicspec.RegPortMac(2), 7)
	require.Equal(t, [6]byte{1, 2, 3, 4, 5, 6}, r.PortMAC(0))
	require.EqualValues(t, 0x04030201, r.Read32(nicspec.RegPortMac(0)))
	require.Zero(t, r.Read32(nicspec.RegPortMac(2)), "beyond the build")

	f := nicspec.TxqEntryFields{Enable: 1, LogSize: 4, PfcClass: 7}
	var b [nicspec.TxqEntrySize]byte
	for _, want := range []nicspec.TableStatus{nicspec.TableStatusOk, nicspec.TableStatusBadValue} {
		f.Encode(b[:])
		require.Equal(t, want, r.commit(nicspec.TableTxq, 3, b[:]).Status)
		r.commit(nicspec.TableTxq, 3, make([]byte, 64))
		r.Drained()
		f.PfcClass++
	}
	r = NewRegs(plainSpec())
	require.Equal(t, nicspec.TableStatusNotBuilt, r.commit(nicspec.TableTxq, 3, b[:]).Status)
	require.Equal(t, nicspec.TableStatusNotBuilt, write(0, good))
}
