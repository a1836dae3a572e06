package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/ether"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
)

// tshark must accept a file and show the frames, with every length of padding.
func TestWiresharkReadsThePcapng(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	require.NoError(t, err, "tshark is missing: apt-get install tshark")
	path := filepath.Join(t.TempDir(), "x.pcapng")
	f, err := os.Create(path)
	require.NoError(t, err)
	p := NewPcapng(f, 0)
	for n := 60; n < 64; n++ { // sizes with every padding
		frame := bytes.Repeat([]byte{byte(n)}, n)
		f := &Frame{Ns: int64(n) * 1_000_000_007, ID: NoID}
		p.Packet(Golden, f, frame)
		f.Comments = []string{"byte 3: " + strings.Repeat("x", n)}
		p.Packet(DUT, f, frame)
	}
	require.NoError(t, p.Close())
	require.NoError(t, f.Close())

	out, err := exec.Command(tshark, "-r", path, "-T", "fields", "-e", "frame.interface_name", "-e", "frame.len",
		"-e", "frame.time_epoch", "-e", "frame.comment", "-e", "pkt_comment").CombinedOutput()
	if err != nil { // older releases of tshark know only one of the comment's two names
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
	l := NewLog(&b, 0)
	e := l.Of("")
	p, err := tlp.NewMemWrite(tlp.Origin{RequesterID: 0x200}, 0x1000, []byte{1, 2, 3, 4})
	require.NoError(t, err)
	e.Observe(boundary.Crossing{Kind: boundary.TLPOut, First: 7, Last: 8, TLP: p})
	e.Observe(boundary.Crossing{Kind: boundary.TLPIn, First: 7, Last: 8, TLP: &tlp.Packet{Hdr: [16]byte{0xff}}})
	for _, port := range []int{1, 0, 1} {
		e.Observe(boundary.Crossing{Kind: boundary.FrameOut, Port: port, First: 9, Last: 9,
			Frame: &ether.Frame{Queue: 3, Data: make([]byte, 60)}})
	}
	require.NoError(t, l.Close())
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 5)
	require.Contains(t, lines[0],
		`{"kind":"tlp_out","port":0,"n":0,"first":7,"last":8,"bytes":4,"crc32":"b63cfbcd","text":`)
	require.Contains(t, lines[1], `{"kind":"tlp_in","port":0,"n":0,"first":7,"last":8,"bytes":0,"text":`)
	require.Contains(t, lines[3], `{"kind":"frame_out","port":0,"n":0,`)
	var m map[string]any
	for _, l := range lines {
		require.NoError(t, json.Unmarshal([]byte(l), &m), l)
	}
	require.Equal(t, "frame_out", m["kind"])
	require.EqualValues(t, 3, m["queue"])
	require.EqualValues(t, 60, m["bytes"])
	require.EqualValues(t, 1, m["n"], "the second on its port")
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsStick(t *testing.T) {
	require.ErrorIs(t, NewPcapng(full{}, 0).Close(), errFull)
	l := NewLog(full{}, 0)
	e := l.Of("")
	e.Observe(boundary.Crossing{Kind: boundary.FrameIn, Frame: &ether.Frame{}})
	require.ErrorIs(t, l.Close(), errFull)
}

// A log cut at its limit ends with a line that counts the events after the last whole line.
func TestEventsAreCut(t *testing.T) {
	const limit, events = 2000, 100
	var b bytes.Buffer
	l := NewLog(&b, limit)
	e := l.Of("")
	for i := range int64(events) {
		size := 60
		if i%2 == 0 {
			// Two sizes of frames give lines of two lengths: after a long line that does not fit, a short one must be
			// left out, too.
			size = 1500
		}
		e.Observe(boundary.Crossing{Kind: boundary.FrameIn, First: i, Last: i + 1,
			Frame: &ether.Frame{Data: make([]byte, size)}})
	}
	require.NoError(t, l.Close())
	require.LessOrEqual(t, b.Len(), limit)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	kept := len(lines) - 1
	require.Greater(t, kept, 10)
	require.Equal(t, Cut{Written: uint64(kept), LeftOut: uint64(events - kept)}, l.Cut())
	var cut struct {
		Kind                string
		Events, First, Last int
	}
	require.NoError(t, json.Unmarshal([]byte(lines[kept]), &cut))
	require.Equal(t, "cut", cut.Kind)
	require.Equal(t, []int{events - kept, kept, events}, []int{cut.Events, cut.First, cut.Last})
}

// tshark must read a file that was cut, and show how many packets are missing.
func TestPcapngIsCut(t *testing.T) {
	capinfos, err := exec.LookPath("capinfos")
	require.NoError(t, err, "capinfos is missing: apt-get install tshark")
	path := filepath.Join(t.TempDir(), "x.pcapng")
	f, err := os.Create(path)
	require.NoError(t, err)
	const limit, packets = 4000, 100
	p := NewPcapng(f, limit)
	for i := range packets {
		p.Packet(i%2, &Frame{Ns: int64(i), ID: NoID}, make([]byte, 100))
	}
	require.NoError(t, p.Close())
	require.NoError(t, f.Close())
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.LessOrEqual(t, st.Size(), int64(limit))
	c := p.Cut()
	require.Greater(t, c.Written, uint64(20))
	require.EqualValues(t, packets, c.Written+c.LeftOut)

	out, err := exec.Command(capinfos, "-M", "-c", path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), fmt.Sprintf("Number of packets:   %d\n", c.Written))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	missing := fmt.Sprintf("cut at its limit: %d packets from %d ns on are missing", c.LeftOut/2, c.Written)
	require.Contains(t, string(text), missing)
}

// In a log of two NICs, each line names its NIC, and ordinals are counted for each NIC.
func TestEventsOfNamedNICs(t *testing.T) {
	var b bytes.Buffer
	l := NewLog(&b, 0)
	for _, name := range []string{"a", "b"} {
		l.Of(name).Observe(boundary.Crossing{Kind: boundary.FrameIn, Frame: &ether.Frame{Data: make([]byte, 60)}})
	}
	require.NoError(t, l.Close())
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], `{"kind":"frame_in","nic":"a","port":0,"n":0,`)
	require.Contains(t, lines[1], `{"kind":"frame_in","nic":"b","port":0,"n":0,`)
}
