package golden

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/verdict"
	"nictwin/models/format/ether"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	_ "nictwin/models/sim/fixedseed"
)

func TestFieldsOfAFrame(t *testing.T) {
	frame := roceFrame(200)
	tagged := append(append(append([]byte(nil), frame[:12]...), 0x81, 0, 0x20, 1), frame[12:]...)
	v6 := append(append([]byte(nil), frame[:12]...), 0x86, 0xdd, 0x60, 0, 0, 0, 0, 60, 6, 64)
	v6 = append(v6, make([]byte, 92)...)
	v6[54+12] = 0x50
	for _, c := range []struct {
		frame []byte
		at    int
		want  string
	}{
		{frame, 0, "eth.dst"}, {frame, 11, "eth.src"}, {frame, 12, "eth.type"}, {frame, 14, "ipv4.version_ihl"},
		{frame, 22, "ipv4.ttl"}, {frame, 33, "ipv4.dst"}, {frame, 34, "udp.src_port"}, {frame, 41, "udp.csum"},
		{frame, 42, "bth.opcode"}, {frame, 46, "bth.fecn_becn"}, {frame, 47, "bth.dest_qp"}, {frame, 53, "bth.psn"},
		{frame, 54, "payload+0"}, {frame, 71, "payload+17"}, {frame, 196, "icrc"},
		{tagged, 13, "vlan[0].tpid"}, {tagged, 15, "vlan[0].tci"}, {tagged, 17, "eth.type"}, {tagged, 26, "ipv4.ttl"},
		{v6, 21, "ipv6.hops"}, {v6, 60, "tcp.seq"}, {v6, 74, "payload+0"},
		{frame[:40], 20, "byte 20"},
	} {
		var h core.Headers
		if len(c.frame) >= nicspec.FrameMin {
			core.Parse(c.frame, nicspec.ResetRocePort, &h)
		}
		require.Equal(t, c.want, verdict.FieldAt(c.frame, &h, c.at), "byte %d", c.at)
	}
}

func TestConfigReportsEverything(t *testing.T) {
	c := Config{LingerCycles: -1}
	err := c.Validate()
	for _, want := range []string{"MaxMismatches is 0", "LingerCycles is -1", "HoldBytes is 0", "ports 0"} {
		require.ErrorContains(t, err, want)
	}
	_, err = New(c)
	require.Error(t, err)
}

func TestSilenceIsNoPass(t *testing.T) {
	cfg := DefaultConfig(nicspec.DefaultBuild())
	p := judge(t, cfg, nil)
	require.Equal(t, Differs, p.Result)
	require.Contains(t, p.Reason, "RX_FRAMES[0]: expected read")
}

func TestNonsenseIsInfrastructure(t *testing.T) {
	frame := &ether.Frame{Data: make([]byte, 60)}
	for name, tape := range map[string][]boundary.Crossing{
		"order": {{Kind: boundary.FrameIn, First: 5, Last: 5, Frame: frame},
			{Kind: boundary.FrameIn, First: 3, Last: 4, Frame: frame}},
		"nothing": {{Kind: boundary.TLPIn}},
		"ports":   {{Kind: boundary.FrameIn, Port: 1, Frame: frame}},
		"kind":    {{Kind: boundary.NumKinds, Frame: frame}},
	} {
		p := judge(t, DefaultConfig(nicspec.DefaultBuild()), tape)
		require.Equal(t, Infrastructure, p.Result, name)
		require.NotEmpty(t, p.Reason)
	}
}

func TestReportIsOneObject(t *testing.T) {
	cfg, clean := calm(t)
	p := newTape(t, clean)
	p.get(3, payWrite(0)).TLP.Data[40] ^= 4
	for i := range 30 {
		p.header(p.get(i, out(tlp.MWr, any1)), func(h *tlp.Header) { h.TC = 1 })
	}
	rep := judge(t, cfg, p.s)
	require.Len(t, rep.List, cfg.MaxMismatches)
	require.Greater(t, rep.Mismatches, uint64(cfg.MaxMismatches))
	b, err := rep.JSON()
	require.NoError(t, err)
	var back struct {
		Result     string
		Checked    uint64
		Mismatches uint64
		List       []verdict.Mismatch
		Digest     string
	}
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, "mismatch", back.Result)
	require.Equal(t, *rep.List[0], back.List[0])
	require.Len(t, back.Digest, 64)
	require.NotEmpty(t, back.List[0].Past)
	require.NotEmpty(t, back.List[0].GoFile)
	text := rep.String()
	require.Contains(t, text, "latest crossings of")
	require.Contains(t, text, "[P2] TC")
}

func TestDigestTellsRunsApart(t *testing.T) {
	cfg, clean := calm(t)
	sum := judge(t, cfg, clean).Digest
	require.Equal(t, sum, judge(t, cfg, clean).Digest)
	later := newTape(t, clean)
	for i := range later.s {
		later.s[i].First++
		later.s[i].Last++
	}
	require.NotEqual(t, sum, judge(t, cfg, later.s).Digest)
	seen := map[string]bool{sum: true}
	for i := 0; i < len(clean); i += 7 {
		p := newTape(t, clean)
		if b := bytesOf(&p.s[i]); len(*b) > 0 {
			(*b)[len(*b)/2] ^= 1
		} else {
			p.s[i].TLP.Hdr[6] ^= 1
		}
		d := judge(t, cfg, p.s).Digest
		require.False(t, seen[d], "crossing %d", i)
		seen[d] = true
	}
}

func TestEveryComparedFrameIsShown(t *testing.T) {
	cfg, clean := calm(t)
	rx, tx, bad := 0, 0, 0
	cfg.OnFrame = func(e *FrameEvent) {
		if e.Mismatch != nil {
			bad++
		}
		require.Equal(t, e.Mismatch == nil, string(e.Expected) == string(e.Got))
		if e.Rx {
			rx++
		} else {
			tx++
		}
	}
	p := newTape(t, clean)
	p.get(3, payWrite(0)).TLP.Data[40] ^= 4
	rep := judge(t, cfg, p.s)
	require.EqualValues(t, rep.Stats.Delivered, rx)
	require.EqualValues(t, rep.Stats.FramesOut, tx)
	require.Equal(t, 1, bad)
}
