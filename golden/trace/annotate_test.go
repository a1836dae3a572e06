package trace

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// three returns a file of three frames on both interfaces: two received and one sent, the last without a number.
func three(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	p := NewPcapng(&b, 0)
	for i, f := range []Frame{{Dir: Inbound, ID: 7},
		{Dir: Outbound, ID: 1 << 40, Comments: []string{"first", "second"}}, {Dir: Inbound, ID: NoID}} {
		f.Ns = int64(i)
		p.Packet(Golden, &f, make([]byte, 61+i))
		p.Packet(DUT, &f, make([]byte, 61+i))
	}
	require.NoError(t, p.Close())
	return b.Bytes()
}

// fields returns what tshark prints for a file, one line per packet.
func fields(t *testing.T, file []byte) []string {
	t.Helper()
	tshark, err := exec.LookPath("tshark")
	require.NoError(t, err, "tshark is missing: apt-get install tshark")
	path := filepath.Join(t.TempDir(), "x.pcapng")
	require.NoError(t, os.WriteFile(path, file, 0o644))
	cmd := exec.Command(tshark, "-r", path, "-T", "fields", "-E", "separator=;", "-e", "frame.interface_name", "-e",
		"frame.len",
		"-e", "frame.packet_flags_direction", "-e", "frame.packet_id", "-e", "frame.comment")
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// tshark must show the direction of a frame, its comments, and comments that Annotate added.
func TestFlagsAndComments(t *testing.T) {
	file := three(t)
	lines := fields(t, file)
	require.Len(t, lines, 6)
	require.Equal(t, "golden;61;0x00000001;7;", lines[0])
	require.Equal(t, "dut;62;0x00000002;1099511627776;first,second", lines[3])
	require.Equal(t, "dut;63;0x00000001;;", lines[5])

	var b bytes.Buffer
	n, err := Annotate(&b, bytes.NewReader(file), map[PacketID][]string{7: {"late: 3", "later"}, 1 << 40: {"late"},
		NoID: {"nobody's"}, 99: {"none"}}, 1000)
	require.NoError(t, err)
	require.Equal(t, 6, n)
	lines = fields(t, b.Bytes())
	require.Len(t, lines, 6)
	require.Equal(t, "golden;61;0x00000001;7;late: 3,later", lines[0])
	require.Equal(t, "dut;61;0x00000001;7;late: 3,later", lines[1])
	require.Equal(t, "dut;62;0x00000002;1099511627776;late,first,second", lines[3])
	require.Equal(t, "dut;63;0x00000001;;", lines[5])
}

// The annotated copy is at most `room` bytes longer than the original. Without comments the two are identical.
func TestAnnotateKeepsToItsRoom(t *testing.T) {
	file := three(t)
	for room := range int64(120) {
		var b bytes.Buffer
		n, err := Annotate(&b, bytes.NewReader(file), map[PacketID][]string{7: {"twenty bytes, or more", "x"}}, room)
		require.NoError(t, err)
		require.LessOrEqual(t, int64(b.Len()-len(file)), room)
		require.Equal(t, n == 0, bytes.Equal(file, b.Bytes()), "room %d", room)
	}
}

func TestAnnotateRefusesOtherFiles(t *testing.T) {
	file := three(t)
	for _, c := range []struct {
		file []byte
		want string
	}{
		{file[:len(file)-1], "the file ends in a block"}, {file[:3], "the file ends in a block"},
		{append(bytes.Clone(file), 6, 0, 0, 0, 3, 0, 0, 0), "a block of 3 bytes"},
	} {
		_, err := Annotate(&bytes.Buffer{}, bytes.NewReader(c.file), nil, 0)
		require.ErrorContains(t, err, c.want)
	}
	_, err := Annotate(full{}, bytes.NewReader(file), nil, 0)
	require.ErrorIs(t, err, errFull)
}

// FuzzAnnotate requires that any file is copied or refused with an error.
func FuzzAnnotate(f *testing.F) {
	f.Add(three(f))
	f.Add([]byte{6, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0})
	f.Fuzz(func(t *testing.T, file []byte) {
		var b bytes.Buffer
		if n, err := Annotate(&b, bytes.NewReader(file), map[PacketID][]string{7: {"seven"}}, 100); err == nil &&
			n == 0 {
			require.Equal(t, len(file), b.Len())
		}
	})
}
