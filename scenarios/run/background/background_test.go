package background_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/format/wire"
	"nictwin/models/nic/boundary"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/observe/wiretap"
	"nictwin/scenarios/run"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/traffic/capture"
)

const (
	us    = simcore.Microsecond
	cores = "name: x\ndescription: a test\nboard: {preset: bf3-cores-pair}\n" +
		"stacks: [{kind: flexins, flexins: {data_cores: 2}}]\n"
)

// arrived is a frame that a NIC took, with the time of its last beat.
type arrived struct {
	data string
	at   simcore.Ps
}

// play plays the only case of a scenario, whose file is in a folder, on the Go NIC, and returns the frames that each
// NIC took. The case must pass.
func play(t *testing.T, dir, text string, o run.Options) (p *run.Played, frames [2][]arrived) {
	t.Helper()
	cases, err := run.Parse(filepath.Join(dir, "f.yaml"), []byte(text))
	require.NoError(t, err)
	if o.NIC = device.Model; o.Stats == "" {
		o.Stats = run.StatsSummary
	}
	o.Observe = func(server int, nic board.NIC) {
		if nic, ok := nic.(boundary.Observable); ok {
			nic.Observe(func(c boundary.Crossing) {
				if c.Kind == boundary.FrameIn {
					const period = 909
					frames[server] = append(frames[server], arrived{string(c.Frame.Data), simcore.Ps(c.Last) * period})
				}
			})
		}
	}
	p, err = cases[0].Play(t.Context(), o)
	require.NoError(t, err, text)
	for _, f := range p.Findings {
		t.Errorf("%s\n%s", text, f.Text)
	}
	require.NotNil(t, p.Result)
	return p, frames
}

// write writes a capture of frames, with the time of each in microseconds.
func write(t *testing.T, dir, name string, frames [][]byte, at func(i int) int) {
	t.Helper()
	var b bytes.Buffer
	word := func(v ...uint32) {
		for _, x := range v {
			require.NoError(t, binary.Write(&b, binary.LittleEndian, x))
		}
	}
	word(0xa1b2c3d4, 4<<16|2, 0, 0, 65535, 1)
	for i, f := range frames {
		word(uint32(at(i)/1_000_000), uint32(at(i)%1_000_000), uint32(len(f)), uint32(len(f)))
		b.Write(f)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644))
}

// frame returns a frame of an unknown protocol that contains the frame's number.
func frame(i, n int) []byte {
	b := make([]byte, n)
	copy(b, "\x02\x11\x22\x33\x44\x55\x02\x66\x77\x88\x99\xaa\x88\xb5")
	binary.BigEndian.PutUint32(b[14:], uint32(i))
	return b
}

const echo = "workload: {kind: ping_pong, depth: 1, count: 30, sizes: [1024]}\n"

// Frames of captures reach the NIC at the port that the scenario names, each once for every pass and in order, at the
// pace of the file or at a rate; the results are those without them, and a second run is the same.
func TestFrames(t *testing.T) {
	dir := t.TempDir()
	var list [][]byte
	for i := range 10 {
		list = append(list, frame(i, 100+i*100))
	}
	write(t, dir, "ten.pcap", list, func(i int) int { return 5 * i }) // every 5 us
	alone, before := play(t, dir, cores+echo, run.Options{})
	for _, x := range []struct {
		text           string
		server, frames int
		gap            simcore.Ps // between the first two frames
	}{
		{"server: 1", 1, 10, 5 * us},
		{"server: 0, port: 0, from: 20us, repeat: 3", 0, 30, 5 * us},
		{"server: 1, from: 10us, until: 33us", 1, 5, 5 * us},
		{"server: 1, rate: 1Gbps, repeat: 2", 1, 20, 8 * (200 + 24) * simcore.Nanosecond},
		{"server: 1, until: 60us, rate: 4Gbps, port: 1", 1, 54, 2 * (200 + 24) * simcore.Nanosecond},
	} {
		text := cores + echo + "background: {capture: ten.pcap, " + x.text + "}\n"
		p, frames := play(t, dir, text, run.Options{})
		require.Equal(t, alone.Digest, p.Digest, x.text)
		var got []arrived
		for _, f := range frames[x.server] {
			if f.data[12:14] == "\x88\xb5" {
				got = append(got, f)
			}
		}
		require.Equal(t, x.frames, len(got), x.text)
		bytes := 0
		for i, f := range got {
			bytes += len(f.data)
			require.Equal(t, string(list[i%10]), f.data, "%s: frame %d", x.text, i)
		}
		require.InDelta(t, float64(x.gap), float64(got[1].at-got[0].at), 20_000, x.text)
		require.Equal(t, len(before[1-x.server]), len(frames[1-x.server]), "%s: the other NIC", x.text)
		require.EqualValues(t, x.frames, p.Stats.Background[0].Frames, x.text)
		again, _ := play(t, dir, text, run.Options{})
		require.Equal(t, p.Stats, again.Stats)
		require.Equal(t, p.Sim, again.Sim)
		full, _ := play(t, dir, text, run.Options{Stats: run.StatsFull})
		port := 0
		if strings.Contains(x.text, "port: 1") {
			port = 1
		}
		entered := uint64(0)
		for _, c := range full.Stats.Counters {
			if c.Where == fmt.Sprintf("Server[%d]", x.server) &&
				c.What == fmt.Sprintf("captures into Ethernet port %d", port) {
				entered = c.Total
			}
		}
		require.EqualValues(t, bytes, entered, "%s: series", x.text)
	}
}

// The frames of captures share the cable with the live traffic: together they fill its rate and do not exceed it, and
// live packets come later.
func TestShareTheCable(t *testing.T) {
	dir := t.TempDir()
	var list [][]byte
	for i := range 4 {
		list = append(list, frame(i, 1500))
	}
	write(t, dir, "full.pcap", list, func(int) int { return 0 })
	const text = cores + "workload: {kind: write, count: 200, depth: 32, sizes: [8192], mtu: 4096, queue_pairs: 2, " +
		"payload: " +
		"reused}\n"
	alone, _ := play(t, dir, text, run.Options{})
	for _, server := range []int{0, 1} {
		p, frames := play(t, dir, text+fmt.Sprintf("background: {capture: full.pcap, server: %d, until: 50us}\n",
			server),
			run.Options{})
		const gbps = 200
		var first, last simcore.Ps
		bytes, added := 0, 0
		for _, f := range frames[server] {
			if f.data[12:14] != "\x88\xb5" && added == 0 || p.Stats == nil {
				continue
			}
			if first == 0 {
				first, bytes = f.at, 0
			} else {
				bytes += len(f.data) + ether.WireOverhead
			}
			last = f.at
			if f.data[12:14] == "\x88\xb5" {
				added++
			}
			if added == 400 {
				break
			}
		}
		require.Equal(t, 400, added)
		rate := float64(8*bytes) / float64(last-first) * 1000
		require.Less(t, rate, gbps*1.01, "server %d", server)
		require.Greater(t, rate, gbps*0.9, "server %d", server)
		if server == 1 {
			require.Greater(t, p.Traffic, alone.Traffic+10*us, "the WRITEs take turns with them")
		}
		require.Equal(t, alone.Digest, p.Digest)
	}
}

// The recording of the cables has the frames of captures; the cable also has faults, but these do not strike them.
func TestRecorded(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	write(t, dir, "one.pcap", [][]byte{frame(1, 64)}, func(int) int { return 0 })
	for _, faults := range []string{"", "faults: {wire: {chances: {loss: 0.05}}}\n"} {
		folder, err := files.OpenFolder(out)
		require.NoError(t, err)
		_, _ = play(t, dir, cores+echo+faults+"background: [{capture: one.pcap, server: 1, repeat: 7}, {capture: "+
			"one.pcap}]\n",
			run.Options{Dir: folder})
		c, err := capture.Read(filepath.Join(out, wiretap.File))
		require.NoError(t, err)
		n := 0
		for _, p := range c.Packets {
			if bytes.Equal(p.Data, frame(1, 64)) {
				n++
			}
		}
		require.Equal(t, 8, n, faults)
	}
}

// Packets of another connection do not reach a queue pair with the same number: the recorded packets of a run are
// played beside the same run, with the address of another host as destination, or as source.
func TestStrangers(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	const text = cores + "workload: {kind: echo, count: 60, depth: 8, sizes: [2000], queue_pairs: 2, psn: 5}\n"
	folder, err := files.OpenFolder(out)
	require.NoError(t, err)
	alone, _ := play(t, dir, text, run.Options{Dir: folder})
	c, err := capture.Read(filepath.Join(out, wiretap.File))
	require.NoError(t, err)
	const source, destination = 14 + 12 + 3, 14 + 16 + 3 // the last bytes of the addresses
	for _, at := range []int{source, destination} {
		var list [][]byte
		for i := range c.Packets {
			b := bytes.Clone(c.Packets[i].Data)
			b[at] += 7
			sumIPv4(b[14:34])
			require.NoError(t, wire.InsertFrameICRC(b))
			list = append(list, b)
		}
		write(t, dir, "strangers.pcap", list, func(i int) int { return i / 4 })
		for _, server := range []int{0, 1} {
			p, _ := play(t, dir, text+fmt.Sprintf("background: {capture: strangers.pcap, server: %d}\n", server),
				run.Options{})
			require.Equal(t, alone.Digest, p.Digest)
			require.NotZero(t, p.Stats.Background[0].Frames)
		}
	}
}

// sumIPv4 computes the checksum of an IPv4 header.
func sumIPv4(head []byte) {
	head[10], head[11] = 0, 0
	sum := uint32(0)
	for i := 0; i < len(head); i += 2 {
		sum += uint32(head[i])<<8 | uint32(head[i+1])
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	binary.BigEndian.PutUint16(head[10:], ^uint16(sum))
}

// Captures that cannot be played are refused with file, line and field, when the scenario or the capture is read.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one.pcap", [][]byte{frame(1, 64)}, func(int) int { return 0 })
	write(t, dir, "none.pcap", nil, nil)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text.pcap"), []byte("this is no capture at all, is it?"),
		0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.pcap"), 0o755))
	const rnics = "name: x\ndescription: a test\nboard: {preset: connectx6-cores-pair}\nstacks: [{kind: rnic}]\n"
	for _, c := range []struct{ text, want string }{
		{cores + "background: {server: 1}", "f.yaml:5: background[0].capture: none: want a pcap or pcapng file"},
		{cores + "background: [{capture: one.pcap},\n  {capture: one.pcap, server: 2}]",
			"f.yaml:6: background[1].server 2: the board has 2 servers: want 0 to 1"},
		{cores + "background: {capture: one.pcap, server: -1}", "background[0].server -1: want 0 or more"},
		{cores + "background: {capture: one.pcap, port: 2}",
			"background[0].port 2: the NIC of server Server[0] has 2: want 0 to 1"},
		{cores + "background: {capture: one.pcap, rate: 0Gbps}",
			"background[0].rate 0bps: want 1Kbps or more, or none for the pace of the capture"},
		{cores + "background: {capture: one.pcap, rate: 201Gbps}",
			"background[0].rate 201Gbps: the cable of server Server[0] carries 200Gbps: want that at most"},
		{cores + "background: {capture: one.pcap, from: 2us, until: 2us}",
			"background[0].until 2us: want more than background[0].from, 2us, or none for the end of the traffic"},
		{cores + "background: {capture: one.pcap, repeat: -1}", "background[0].repeat -1: want 1 to 1073741824 passes"},
		{cores + "background: {capture: one.pcap, pace: line}", "f.yaml:5: background[0].pace: no such field"},
		{rnics + "background: {capture: one.pcap}", "background[0].server 0: server Server[0] has a device of kind " +
			"rnic, " +
			"which no referee judges"},
		{cores + "workload: {transport: raw, sizes: [64]}\nbackground: {capture: one.pcap}", "f.yaml:6: " +
			"background: with " +
			"workload.transport raw, applications take every frame that is no RoCE packet"},
		{"name: x\ndescription: a test\nboard:\n  servers:\n  - {name: A, cards: [{preset: bf3-cores, bond: " +
			"{cables: 2}}]}\n" +
			"  - {name: B, cards: [{preset: bf3-cores, bond: {cables: 2}}]}\n  network: {kind: back_to_back}\n" +
			"stacks: [{kind: flexins, flexins: {data_cores: 2}}]\nbackground: {capture: one.pcap}",
			"background[0].port 0: the ports of server A are bonds of cables: want a server without"},
		{cores + "background: {capture: gone.pcap}", "f.yaml:5: background[0].capture: stat " + dir + "/gone.pcap: " +
			"no such file"},
		{cores + "background:\n- {capture: one.pcap}\n- {capture: text.pcap}", "f.yaml:7: background[1].capture: " +
			"" + dir +
			"/text.pcap: offset 0: neither pcap nor pcapng"},
		{cores + "background: {capture: folder.pcap}", "folder.pcap is no regular file: want a pcap or pcapng file"},
		{cores + "background: {capture: none.pcap}", "f.yaml:5: background[0].capture: the captures hold no frame"},
	} {
		cases, err := run.Parse(filepath.Join(dir, "f.yaml"), []byte(c.text+"\n"))
		if err == nil {
			err = cases[0].CheckCaptures(t.Context())
			_, played := cases[0].Play(t.Context(), run.Options{NIC: device.Model})
			require.ErrorContains(t, played, c.want, c.text)
		}
		require.ErrorContains(t, err, c.want, c.text)
	}
}

// TestElsewhere checks that Portable refuses a case with captures, and that Alone gives their paths independently of
// the folder of the scenario.
func TestElsewhere(t *testing.T) {
	dir := t.TempDir()
	cases, err := run.Parse(filepath.Join(dir, "f.yaml"), []byte(cores+"background: {capture: one.pcap}\n"))
	require.NoError(t, err)
	require.ErrorContains(t, cases[0].Portable(),
		`f.yaml:5: background[0].capture "one.pcap": bundles of scenarios have no `+
			"captures")
	alone := cases[0].Alone()
	require.Equal(t, filepath.Join(dir, "one.pcap"), alone.Background[0].Capture)
	require.Equal(t, "one.pcap", cases[0].Background[0].Capture)
}
