package etherlink

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/format/wire"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// tshark returns the given fields of each frame, one line per frame.
func tshark(t *testing.T, frames [][]byte, fields ...string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "frames.pcap")
	f, err := os.Create(file)
	require.NoError(t, err)
	w := pcapgo.NewWriter(f)
	require.NoError(t, w.WriteFileHeader(65535, layers.LinkTypeEthernet))
	for i, b := range frames {
		ci := gopacket.CaptureInfo{Timestamp: time.Unix(int64(i), 0), CaptureLength: len(b), Length: len(b)}
		require.NoError(t, w.WritePacket(ci, b))
	}
	require.NoError(t, f.Close())
	args := []string{"-n", "-r", file, "-o", "ip.check_checksum:TRUE", "-T", "fields", "-E", "separator=,"}
	for _, x := range fields {
		args = append(args, "-e", x)
	}
	path, err := exec.LookPath("tshark")
	require.NoError(t, err, "this test needs tshark: sudo apt-get install tshark")
	out, err := exec.CommandContext(t.Context(), path, args...).Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// Marking a frame must change only the ECN field and the checksum; gopacket and tshark must find
// the checksum right.
func TestMarkedFramesAreRight(t *testing.T) {
	r := incast(t, simcore.NewEngine(), Default(13), RoCEClass, 60)
	r.hosts[0].keep = true
	r.run()
	var marked [][]byte
	for _, f := range r.hosts[0].got {
		if f[15]&3 != 3 {
			continue
		}
		marked = append(marked, f)
		p := gopacket.NewPacket(f, layers.LayerTypeEthernet, gopacket.Default)
		ip := p.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
		require.Equal(t, wire.OK, wire.VerifyIPv4Header(f[14:]))
		buf := gopacket.NewSerializeBuffer()
		sum := ip.Checksum
		require.NoError(t, ip.SerializeTo(buf, gopacket.SerializeOptions{ComputeChecksums: true}))
		require.Equal(t, binary.BigEndian.Uint16(buf.Bytes()[10:]), sum)
		was := frame(f[11], 1, 4096, RoCEClass, uint16(f[11]-1))
		copy(was[15:16], f[15:16])
		copy(was[24:26], f[24:26])
		require.Equal(t, was, f)
	}
	require.NotEmpty(t, marked)
	for _, line := range tshark(t, marked, "ip.dsfield.ecn", "ip.checksum.status", "ip.dsfield.dscp") {
		require.Equal(t, "3,1,24", line)
	}
}

// tshark must decode the switch's pause frames: one that pauses the class, one that resumes it.
func TestPauseFramesAreReal(t *testing.T) {
	r := incast(t, simcore.NewEngine(), Default(13), RoCEClass, 200)
	r.hosts[1].keep = true
	r.run()
	lines := tshark(t, r.hosts[1].got, "eth.dst", "eth.src", "macc.opcode", "macc.cbfc.enbv", "macc.cbfc.pause_time.c3",
		"frame.len")
	require.GreaterOrEqual(t, len(lines), 2)
	for i, line := range lines {
		require.Equal(t, "01:80:c2:00:00:01,02:00:00:00:ee:01,0x0101,0x0008,"+[]string{"65535", "0"}[i%2]+",60", line)
	}
}

// MarkCE must agree with gopacket for both versions of IP, also behind VLAN tags, and leave other
// frames unchanged.
func TestMarkCE(t *testing.T) {
	v4 := frame(1, 2, 100, 3, 1)
	tagged := append(append(append([]byte{}, v4[:12]...), 0x81, 0, 0x60, 5), v4[12:]...)
	v6 := make([]byte, 80)
	copy(v6[12:], []byte{0x86, 0xdd, 0x66, 0x1a, 0xbc, 0xde}) // traffic class 0x61: ECT(1)
	for _, x := range []struct {
		name string
		f    []byte
		l3   int
	}{{"IPv4", v4, 14}, {"IPv4 with tag", tagged, 18}, {"IPv6", v6, 14}} {
		f := append([]byte{}, x.f...)
		require.Equal(t, core.Marked, core.MarkCE(f), x.name)
		require.Equal(t, core.WasCE, core.MarkCE(f), x.name)
		if x.f[x.l3]>>4 == 4 {
			require.EqualValues(t, x.f[x.l3+1]|3, f[x.l3+1])
			require.Equal(t, wire.OK, wire.VerifyIPv4Header(f[x.l3:]))
			f[x.l3+10] ^= 0x55 // a wrong checksum must stay wrong
			f[x.l3+1] ^= 1
			require.Equal(t, core.Marked, core.MarkCE(f))
			require.Equal(t, wire.Bad, wire.VerifyIPv4Header(f[x.l3:]))
			f[x.l3+1] &^= 3
		} else {
			require.Equal(t, []byte{0x66, 0x3a, 0xbc, 0xde}, f[14:18])
			f[15] &^= 0x30
		}
		before := append([]byte{}, f...)
		require.Equal(t, core.Unaware, core.MarkCE(f), x.name)
		require.Equal(t, before, f)
	}
	for n := range v4 {
		core.MarkCE(append([]byte{}, v4[:n]...)[:n:n]) // a truncated frame must not panic
	}
	require.Equal(t, []uint8{3, 0, 3, 0}, []uint8{core.ByDSCP.Class(v4), core.ByPCP.Class(v4), core.ByPCP.Class(tagged),
		core.ByNone.Class(v4)})
	require.EqualValues(t, 3, core.ByDSCP.Class(v6))
}

// A change of any bit of the 5-tuple must change the hash; a change elsewhere, or of a fragment's
// ports, must not.
func TestFlowHash(t *testing.T) {
	f := frame(1, 2, 100, 0, 7)
	h := core.FlowHash(f, 1)
	for at := range f {
		g := append([]byte{}, f...)
		g[at] ^= 1
		part := at == 23 || at >= 26 && at < 38
		if at == 12 || at == 13 || at == 14 || at == 20 || at == 21 {
			continue // changing these bits gives another protocol, other options or a fragment
		}
		require.Equal(t, part, core.FlowHash(g, 1) != h, "byte %d", at)
	}
	require.NotEqual(t, h, core.FlowHash(f, 2))
	a, b := append([]byte{}, f...), append([]byte{}, f...)
	a[20], b[20], b[35] = 0x20, 0x20, 0xff
	require.Equal(t, core.FlowHash(a, 1), core.FlowHash(b, 1))
}

func FuzzFrames(f *testing.F) {
	f.Add(frame(1, 2, 100, 3, 1))
	f.Add(pauseFrame(8, 9))
	f.Fuzz(func(t *testing.T, b []byte) {
		was := append([]byte{}, b...)
		core.FlowHash(b, 1)
		for _, by := range []core.ClassBy{core.ByDSCP, core.ByPCP, core.ByNone} {
			require.Less(t, by.Class(b), uint8(core.Classes))
		}
		if p, ok := ether.ParsePause(b); ok && p.Priority {
			again := make([]byte, ether.MinLen)
			p.Put(again, [6]byte(b[6:]))
			q, ok := ether.ParsePause(again)
			require.True(t, ok)
			require.Equal(t, p.Classes, q.Classes)
		}
		require.Equal(t, was, b)
		good := len(b) > 34 && wire.VerifyIPv4Header(b[14:]) == wire.OK
		if core.MarkCE(b) != core.Marked {
			require.Equal(t, was, b)
		} else if good && b[12] == 8 {
			require.Equal(t, wire.OK, wire.VerifyIPv4Header(b[14:]))
		}
	})
}

// Two hosts with bonds of two cables: flows must use both cables, each flow only one, and no frame
// may be lost.
func TestBond(t *testing.T) {
	e, pool := simcore.NewEngine(), new(msg.Frames)
	var hosts []*host
	var bonds []*Bond
	for i, name := range []string{"A", "B"} {
		h := newHost(t, e, pool, name, 200_000)
		b, err := NewBond(name+".Bond", e, 2, uint64(i))
		require.NoError(t, err)
		_, err = simcore.Connect(name+".Bus", e, simcore.LinkSpec{}, h.port, b.Host())
		require.NoError(t, err)
		hosts, bonds = append(hosts, h), append(bonds, b)
	}
	var cables []*Link
	for i := range 2 {
		l, err := Connect([]string{"Left", "Right"}[i], e, pool, DefaultLink(), bonds[0].Member(i), bonds[1].Member(i))
		require.NoError(t, err)
		cables = append(cables, l)
	}
	for flow := range uint16(200) {
		hosts[0].out.Push(pool.Copy(frame(1, 2, 1500, 0, flow)))
	}
	hosts[0].push()
	require.NoError(t, e.Run())
	require.Equal(t, 200*1500, hosts[1].bytes)
	require.InDelta(t, 100, cables[0].Counters(0).Out.Frames, 25)
	_, err := NewBond("C", e, 0, 0)
	require.ErrorContains(t, err, "0 members: want")
}

func TestSpecsNameTheirFields(t *testing.T) {
	s := Default(2)
	require.NoError(t, s.Validate())
	s.Ports, s.Mode, s.Latency, s.Alpha, s.Quanta, s.ClassBy = 65, "fast", 0, 0, 0, "tos"
	s.Classes[3].PFC.XonBytes, s.Classes[4].PFC.HeadroomBytes, s.Classes[5].ECN.Pmax = 1<<20, 1, 2
	s.LAGs, s.Table = [][]int{{0, 0}, {}}, []core.Entry{{Port: 99}, {Port: 1}}
	var paths []string
	for _, err := range field.Each(s.Validate()) {
		paths = append(paths, string(err.(*field.Error).Path))
	}
	require.ElementsMatch(t, []string{
		"ports", "mode", "latency_ps", "class_by", "alpha", "pause_quanta", "table[0].port", "classes[3].pfc.xon_bytes",
		"classes[4].pfc.xoff_bytes",
		"classes[5].ecn.pmax", "lags[0]", "lags[1]", "table[1].mac",
	}, paths)
	l := LinkSpec{Propagation: -1, Backlog: -1, Loss: 1}
	require.EqualError(t, l.Validate(), "mbps 0: want 1 to 2^30\npropagation_ps -1: want 0 to 1 s\nbacklog_bytes -1: "+
		"want 0 to 2^24\n"+
		"loss 1: want a probability from 0 to less than 1")
	s = Default(2)
	s.BufferBytes = 200_000
	require.EqualError(t, s.Validate(), "buffer_bytes 200000: want 327680 or more: xoff_bytes and headroom_bytes of "+
		"every class with PFC at each port")
}
