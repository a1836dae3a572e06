package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/ether"
	"nictwin/models/tlp"
)

// Wireshark's own reader is the judge of the file.
func TestWiresharkReadsThePcapng(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	require.NoError(t, err, "tshark is missing: apt-get install tshark")
	path := filepath.Join(t.TempDir(), "x.pcapng")
	f, err := os.Create(path)
	require.NoError(t, err)
	p := NewPcapng(f)
	for n := 60; n < 64; n++ { // every padding
		frame := bytes.Repeat([]byte{byte(n)}, n)
		p.Packet(Golden, int64(n)*1_000_000_007, frame, "")
		p.Packet(DUT, int64(n)*1_000_000_007, frame, "byte 3: "+strings.Repeat("x", n))
	}
	require.NoError(t, p.Close())
	require.NoError(t, f.Close())

	out, err := exec.Command(tshark, "-r", path, "-T", "fields", "-e", "frame.interface_name", "-e", "frame.len",
		"-e", "frame.time_epoch", "-e", "frame.comment", "-e", "pkt_comment").CombinedOutput()
	if err != nil { // older releases know the comment by one of the two names only
		out, err = exec.Command(tshark, "-r", path, "-T", "fields", "-e", "frame.interface_name", "-e", "frame.len",
			"-e", "frame.time_epoch", "-e", "frame.comment").CombinedOutput()
	}
	require.NoError(t, err, "%s", out)
	var lines []string
	for _, l := range strings.Split(string(out), "\n") {
		if strings.HasPrefix(l, "golden") || strings.HasPrefix(l, "dut") {
			lines = append(lines, l)
		}
	}
	require.Len(t, lines, 8)
	require.Contains(t, lines[0], "golden\t60\t60.000000420")
	require.Contains(t, lines[7], "dut\t63\t63.000000441")
	require.Contains(t, lines[7], "byte 3: xxx")
}

func TestEventsAreJSON(t *testing.T) {
	var b bytes.Buffer
	e := NewEvents(&b)
	p, err := tlp.NewMemWrite(tlp.Origin{RequesterID: 0x200}, 0x1000, []byte{1, 2, 3, 4})
	require.NoError(t, err)
	e.Observe(boundary.Crossing{Kind: boundary.TLPOut, First: 7, Last: 8, TLP: p})
	e.Observe(boundary.Crossing{Kind: boundary.TLPIn, First: 7, Last: 8, TLP: &tlp.Packet{Hdr: [16]byte{0xff}}})
	e.Observe(boundary.Crossing{Kind: boundary.FrameOut, First: 9, Last: 9, Frame: &ether.Frame{Queue: 3, Data: make([]byte, 60)}})
	require.NoError(t, e.Close())
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 3)
	var m map[string]any
	for _, l := range lines {
		require.NoError(t, json.Unmarshal([]byte(l), &m), l)
	}
	require.Equal(t, "frame_out", m["kind"])
	require.EqualValues(t, 3, m["queue"])
	require.EqualValues(t, 60, m["bytes"])
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsStick(t *testing.T) {
	require.ErrorIs(t, NewPcapng(full{}).Close(), errFull)
	e := NewEvents(full{})
	e.Observe(boundary.Crossing{Kind: boundary.FrameIn, Frame: &ether.Frame{}})
	require.ErrorIs(t, e.Close(), errFull)
}
