package replay

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	judging "nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/traffic/capture"
)

// playSpoiled plays a capture three times on the Go NIC; spoil alters the crossings, as if the NIC had a bug.
func playSpoiled(t *testing.T, dir string, spoil boundary.Observer) (*Result, string) {
	t.Helper()
	o := options("model", []string{"../captures/softroce/ud_send6.pcap"})
	o.Dir, o.Loop, o.Stall, o.Observe, o.Events, o.Out = dir, 3, 0, spoil, true, t.TempDir()
	r, err := New(t.Context(), o)
	require.NoError(t, err)
	res, err := r.Play()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.False(t, res.Pass)
	return res, filepath.Join(o.Out, judging.PcapngFile)
}

// capturedAs returns the file and the time that a finding about a packet of the capture must name. Packets count from
// 1.
func capturedAs(t *testing.T, packet int) (name, when string) {
	t.Helper()
	f, err := capture.Read("../captures/softroce/ud_send6.pcap")
	require.NoError(t, err)
	return f.Packets[packet-1].File, f.Packets[packet-1].Time.UTC().Format("2006-01-02T15:04:05.999999999Z")
}

// commented returns the frames of a file that have a comment, as tshark prints them: interface, direction and comment.
func commented(t *testing.T, path string) (list []string) {
	t.Helper()
	out, err := exec.Command("tshark", "-r", path, "-T", "fields", "-E", "separator=|", "-e", "frame.interface_name",
		"-e", "frame.packet_flags_direction", "-e", "frame.comment").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasSuffix(line, "|") {
			list = append(list, line)
		}
	}
	return list
}

// packetsOf returns the number of packets in the capture.
func packetsOf(t *testing.T) int {
	t.Helper()
	f, err := capture.Read("../captures/softroce/ud_send6.pcap")
	require.NoError(t, err)
	return len(f.Packets)
}

// If a frame leaves with a wrong byte, the referee and the end-to-end check both name it by capture, packet and time,
// and it is marked in the pcapng file.
func TestFindingsNameTheFrameThatLeft(t *testing.T) {
	n, all := 0, packetsOf(t)
	var spoilt []byte
	queue := -1
	res, path := playSpoiled(t, "tx", func(c boundary.Crossing) {
		if c.Kind == boundary.FrameOut {
			if n++; n == all+3 { // a frame of a later pass; which one depends on the queues' turns
				spoilt, queue = bytes.Clone(c.Frame.Data), c.Frame.Queue
				c.Frame.Data[44] ^= 0x10
			}
		}
	})
	require.Len(t, res.Findings, 2, "%v", result.Texts(res.Findings))
	ref, end := res.Findings[0], res.Findings[1]
	packet := ref.Frame.Packet
	name, when := capturedAs(t, packet)
	want := &result.Frame{Dir: "tx", Number: ref.Frame.Number, Capture: name, Packet: ref.Frame.Number%all + 1,
		Time: when, Pass: 1 + ref.Frame.Number/all}
	require.Greater(t, want.Pass, 1)
	f, err := capture.Read(name)
	require.NoError(t, err)
	require.Equal(t, f.Packets[packet-1].Data, spoilt)
	place := fmt.Sprintf("(packet %d of %s, captured %s, pass %d)", packet, name, when, want.Pass)
	for _, f := range res.Findings {
		require.Equal(t, want, f.Frame)
		require.Equal(t, []any{result.Tx, 0, queue}, []any{f.Domain, *f.Port, *f.Queue})
		require.Contains(t, f.Head(), place)
	}
	require.Equal(t, []string{"T5", "T5", "byte 44"}, []string{ref.Rule, end.Rule, end.Field})
	require.Equal(t, *ref.Index, *end.Index)
	require.Len(t, ref.Files, 2)
	require.Positive(t, *ref.Cycle)
	marks := commented(t, path)
	require.Len(t, marks, 2)
	require.Equal(t, "golden|0x00000002|"+ref.Head(), marks[0])
	require.Equal(t, "dut|0x00000002|"+ref.Head(), marks[1])
	for _, part := range []string{"cycle ", "[T5]", ref.Expected, ref.Got, place} {
		require.Contains(t, marks[1], part)
	}
}

// A wrong completion entry is found long after its frame was written to the pcapng file; the frame is marked
// nevertheless.
func TestLateFindingsMarkTheirFrame(t *testing.T) {
	n := 0
	res, path := playSpoiled(t, "tx", func(c boundary.Crossing) {
		if c.Kind == boundary.TLPOut && len(c.TLP.Data) == nicspec.TxCqeSize {
			if n++; n == 1 {
				nicspec.TxCqe(c.TLP.Data).SetWqeId(0x55)
			}
		}
	})
	f := res.Findings[0]
	require.Equal(t, []string{"T10", "wqe_id"}, []string{f.Rule, f.Field})
	name, when := capturedAs(t, f.Frame.Packet)
	require.Equal(t, []string{name, when}, []string{f.Frame.Capture, f.Frame.Time})
	require.Equal(t, 1, f.Frame.Pass)
	require.Equal(t, []string{"golden|0x00000002|" + f.Head(), "dut|0x00000002|" + f.Head()}, commented(t, path))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 2, "nothing is left beside the artifacts")
}

// A finding about a completion entry names the received frame, and a comment marks the frame in the pcapng file.
func TestFindingsNameTheFrameThatCameIn(t *testing.T) {
	n, all := 0, packetsOf(t)
	spoilt := -1
	res, path := playSpoiled(t, "rx", func(c boundary.Crossing) {
		if c.Kind != boundary.TLPOut || len(c.TLP.Data) != nicspec.RxCqeSize {
			return
		}
		e := nicspec.RxCqe(c.TLP.Data)
		if n++; n == all+4 {
			spoilt = int(e.PortSeq())
			e.SetRssHash(e.RssHash() + 1)
		}
	})
	require.Len(t, res.Findings, 1, "%v", result.Texts(res.Findings))
	f := res.Findings[0]
	name, when := capturedAs(t, spoilt%all+1)
	require.Equal(t, &result.Frame{Dir: "rx", Number: spoilt, Capture: name, Packet: spoilt%all + 1, Time: when,
		Pass: 1 + spoilt/all}, f.Frame)
	require.Equal(t, []any{"S2", result.Rx, "rss_hash", 0}, []any{f.Rule, f.Domain, f.Field, *f.Port})
	require.Equal(t, []string{"golden|0x00000001|" + f.Head(), "dut|0x00000001|" + f.Head()}, commented(t, path))
}

// Comments on mismatches count towards ArtifactBytes, so that files with them keep to the limit.
func TestCommentsKeepToTheLimit(t *testing.T) {
	const limit = 20_000
	o := options("model", []string{"../captures/softroce/ud_send6.pcap"})
	o.Dir, o.Loop, o.Events, o.Out, o.ArtifactBytes = "tx", 20, true, t.TempDir(), limit
	o.Observe = func(c boundary.Crossing) {
		if c.Kind == boundary.TLPOut && len(c.TLP.Data) == nicspec.TxCqeSize {
			nicspec.TxCqe(c.TLP.Data).SetWqeId(0x55)
		}
	}
	r, err := New(t.Context(), o)
	require.NoError(t, err)
	res, err := r.Play()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NotEmpty(t, res.Cut)
	for _, name := range []string{judging.EventsFile, judging.PcapngFile} {
		info, err := os.Stat(filepath.Join(o.Out, name))
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(limit), name)
	}
	require.NotEmpty(t, commented(t, filepath.Join(o.Out, judging.PcapngFile)))
}

// If the run no longer knows where a frame was captured, a finding about the frame gets file and packet by reading the
// captures again.
func TestFramesLongGoneAreLookedUp(t *testing.T) {
	o := options("model", []string{"../captures/softroce/ud_send6.pcap", "../captures/softroce/ud_send4.pcap"})
	o.Ports, o.Loop = 2, 3
	r := start(t, o)
	res, err := r.Play()
	require.NoError(t, err)
	require.True(t, res.Pass)
	all := r.supply.Frames
	list := []result.Finding{
		{Text: "rx", Frame: &result.Frame{Dir: "rx", Port: 1, Number: r.rx.pass[1] + 2}},
		{Text: "tx", Frame: &result.Frame{Dir: "tx", Number: 2*all + 3}}, // the ports take turns
		{Text: "none"},
	}
	require.NoError(t, r.lookUp(list))
	rx, tx := list[0].Frame, list[1].Frame
	require.Equal(t, []any{o.Captures[1], 3, 2, 1}, []any{rx.Capture, rx.Packet, rx.Pass, rx.Port})
	require.Equal(t, []any{o.Captures[1], 2, 3, 1}, []any{tx.Capture, tx.Packet, tx.Pass, tx.Port})
	require.Contains(t, list[0].Text, "rx (packet 3 of "+o.Captures[1])
	require.NotEmpty(t, rx.Time)
}
