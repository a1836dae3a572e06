package wire

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"
)

// column is a field: its name in tshark, and how this package reads it from a RoCE packet in which
// header h begins at b.
type column struct {
	name string
	h    Header // HeaderNone for the BTH
	get  func(b []byte) uint64
}

// columns lists the compared fields. For address and key of an AtomicETH, tshark uses the names of
// the RETH.
var columns = []column{
	{"infiniband.bth.opcode", HeaderNone, func(b []byte) uint64 { return uint64(BTH(b).Fields().Opcode) }},
	{"infiniband.bth.se", HeaderNone, func(b []byte) uint64 { return oneIf(BTH(b).Fields().SE) }},
	{"infiniband.bth.m", HeaderNone, func(b []byte) uint64 { return oneIf(BTH(b).Fields().MigReq) }},
	{"infiniband.bth.padcnt", HeaderNone, func(b []byte) uint64 { return uint64(BTH(b).Fields().PadCnt) }},
	{"infiniband.bth.tver", HeaderNone, func(b []byte) uint64 { return uint64(BTH(b).Fields().TVer) }},
	{"infiniband.bth.p_key", HeaderNone, func(b []byte) uint64 { return uint64(BTH(b).Fields().PKey) }},
	{"infiniband.bth.destqp", HeaderNone, func(b []byte) uint64 { return uint64(BTH(b).Fields().DestQP) }},
	{"infiniband.bth.a", HeaderNone, func(b []byte) uint64 { return oneIf(BTH(b).Fields().AckReq) }},
	{"infiniband.bth.reserved7", HeaderNone, func(b []byte) uint64 { return uint64(BTH(b).Fields().Resv7) }},
	{"infiniband.bth.psn", HeaderNone, func(b []byte) uint64 { return uint64(BTH(b).Fields().PSN) }},
	{"infiniband.reth.va", HeaderRETH, func(b []byte) uint64 { return RETH(b).Fields().VA }},
	{"infiniband.reth.va", HeaderAtomicETH, func(b []byte) uint64 { return AtomicETH(b).Fields().VA }},
	{"infiniband.reth.r_key", HeaderRETH, func(b []byte) uint64 { return uint64(RETH(b).Fields().RKey) }},
	{"infiniband.reth.r_key", HeaderAtomicETH, func(b []byte) uint64 { return uint64(AtomicETH(b).Fields().RKey) }},
	{"infiniband.reth.dmalen", HeaderRETH, func(b []byte) uint64 { return uint64(RETH(b).Fields().DMALen) }},
	{"infiniband.aeth.syndrome", HeaderAETH, func(b []byte) uint64 { return uint64(AETH(b).Fields().Syndrome) }},
	{"infiniband.aeth.msn", HeaderAETH, func(b []byte) uint64 { return uint64(AETH(b).Fields().MSN) }},
	{"infiniband.deth.q_key", HeaderDETH, func(b []byte) uint64 { return uint64(DETH(b).Fields().QKey) }},
	{"infiniband.deth.srcqp", HeaderDETH, func(b []byte) uint64 { return uint64(DETH(b).Fields().SrcQP) }},
	{"infiniband.immdt", HeaderImmDt, func(b []byte) uint64 { return uint64(ImmDt(b).Fields().Imm) }},
	{"infiniband.ieth", HeaderIETH, func(b []byte) uint64 { return uint64(IETH(b).Fields().RKey) }},
	{"infiniband.atomiceth.swapdt", HeaderAtomicETH, func(b []byte) uint64 { return AtomicETH(b).Fields().SwapAdd }},
	{"infiniband.atomiceth.cmpdt", HeaderAtomicETH, func(b []byte) uint64 { return AtomicETH(b).Fields().Compare }},
	{"infiniband.atomicacketh.origremdt", HeaderAtomicAckETH,
		func(b []byte) uint64 { return AtomicAckETH(b).Fields().Orig }},
}

func oneIf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// meaning returns the fields of a packet by column name; fields that it does not have are missing.
func meaning(p []byte) map[string]string {
	m := map[string]string{}
	info := BTH(p).Opcode().Info()
	for _, c := range columns {
		off := 0
		if c.h != HeaderNone {
			off = info.Offset(c.h)
		}
		if off >= 0 {
			m[c.name] = fmt.Sprint(c.get(p[off:]))
		}
	}
	return m
}

type sighting struct {
	where string
	frame []byte
}

// TestFieldsAgainstTshark compares every field with tshark's reading, for all captures and a frame
// of each known opcode, in one run of tshark.
func TestFieldsAgainstTshark(t *testing.T) {
	var all []sighting
	for _, row := range loadManifest(t) {
		for i, f := range loadCapture(t, row.File) {
			all = append(all, sighting{fmt.Sprintf("%s frame %d", row.File, i), f})
		}
	}
	all = append(all, everyOpcode(t)...)
	rows := runTshark(t, all)
	require.Len(t, rows, len(all))
	compared, short := 0, 0
	for i, s := range all {
		p := udpPayload(s.frame)
		if VerifyFrameICRC(s.frame).Verdict == NotChecked || len(p) < BTHSize {
			continue
		}
		var l BTHLayer
		if err := l.DecodeFromBytes(p, gopacket.NilDecodeFeedback); err != nil {
			short++
			continue
		}
		want := meaning(p)
		for _, c := range columns {
			if c.h != HeaderNone && !l.Opcode.Info().Known {
				continue // tshark knows RD and XRC, this package does not
			}
			require.Equal(t, want[c.name], rows[i][c.name], "%s: %s of %s", s.where, c.name, l.Opcode)
		}
		compared++
	}
	t.Logf("%d packets compared, %d too short for their opcode", compared, short)
	require.Equal(t, 11, short, "injected and mutated frames")
	require.Greater(t, compared, 2600)
}

// everyOpcode returns a frame of each known opcode, whose header bytes are all different.
func everyOpcode(t *testing.T) (out []sighting) {
	for o := range 256 {
		info := Opcode(o).Info()
		if !info.Known {
			continue
		}
		body := make([]byte, int(info.ExtLen)+8)
		for i := range body {
			body[i] = byte(0x80 + o + 5*i)
		}
		bth := &BTHLayer{BTHFields: BTHFields{Opcode: Opcode(o), PKey: 0xffff, DestQP: 0xabc000 | uint32(o),
			PSN: 0xfffff0, AckReq: true}}
		mac := []byte{2, 0, 0, 0, 0, 1}
		buf := gopacket.NewSerializeBuffer()
		require.NoError(t, gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true},
			&layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeIPv4},
			&layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte{10, 1, 0, 1},
				DstIP: []byte{10, 1, 0, 2}},
			&layers.UDP{SrcPort: 0xc000, DstPort: Port}, bth, gopacket.Payload(body)))
		frame := bytes.Clone(buf.Bytes())
		require.NoError(t, SealFrame(frame, false))
		out = append(out, sighting{"generated " + Opcode(o).String(), frame})
	}
	return out
}

func runTshark(t *testing.T, all []sighting) []map[string]string {
	t.Helper()
	tshark, err := exec.LookPath("tshark")
	require.NoError(t, err, "this test needs tshark: sudo apt-get install tshark")
	file := filepath.Join(t.TempDir(), "all.pcap")
	writePcap(t, file, all)
	args := []string{"-n", "-r", file, "--disable-protocol", "rpcordma", "-T", "fields", "-E", "occurrence=f", "-E",
		"separator=/t"}
	var names []string
	for _, c := range columns {
		if len(names) == 0 || names[len(names)-1] != c.name {
			names = append(names, c.name)
			args = append(args, "-e", c.name)
		}
	}
	var stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), tshark, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "tshark: %s", stderr.String())
	var rows []map[string]string
	for line := range strings.Lines(string(out)) {
		row := map[string]string{}
		for i, cell := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			if cell != "" {
				row[names[i]] = number(t, names[i], cell)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// number converts a value to decimal: tshark prints fields in several notations.
func number(t *testing.T, name, cell string) string {
	switch {
	case cell == "True":
		return "1"
	case cell == "False":
		return "0"
	case name == "infiniband.immdt" || name == "infiniband.ieth":
		cell = "0x" + strings.ReplaceAll(cell, ":", "")
	}
	v, err := strconv.ParseUint(cell, 0, 64)
	require.NoError(t, err, name)
	return fmt.Sprint(v)
}

func writePcap(t *testing.T, file string, all []sighting) {
	t.Helper()
	f, err := os.Create(file)
	require.NoError(t, err)
	defer f.Close()
	w := pcapgo.NewWriter(f)
	require.NoError(t, w.WriteFileHeader(65535, layers.LinkTypeEthernet))
	for i, s := range all {
		ci := gopacket.CaptureInfo{Timestamp: time.Unix(int64(i), 0), CaptureLength: len(s.frame), Length: len(s.frame)}
		require.NoError(t, w.WritePacket(ci, s.frame))
	}
}
