package replay

import (
	"bufio"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// header is a protocol that tshark found in a frame. If a field occurs several times, as in options, only the first one
// is kept.
type header struct {
	name    string
	at, end int // offsets in the frame
	fields  map[string]shown
}

type shown struct {
	at, size int
	show     string
}

// num returns the value that tshark prints for a field; 0 if the field is absent.
func (h *header) num(t testing.TB, name string) uint64 {
	f, ok := h.fields[name]
	switch {
	case !ok || f.show == "False":
		return 0
	case f.show == "True":
		return 1
	}
	v, err := strconv.ParseUint(f.show, 0, 64)
	require.NoError(t, err, "%s", name)
	return v
}

// tsharkShown lists the protocols whose fields tshark must print, and the fields that have subfields.
const tsharkShown = "frame eth vlan ieee8021ad ip ip.flags ip.dsfield ipv6 ipv6.tclass udp udp.checksum tcp " +
	"infiniband infiniband.bth"

// tsharkPrefs makes tshark read each frame independently of the others, print everything and check every checksum.
var tsharkPrefs = []string{
	"ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE",
	"tcp.analyze_sequence_numbers:FALSE",
	"ip.check_checksum:TRUE", "udp.check_checksum:TRUE", "ip.tso_support:FALSE", "ipv6.tso_support:FALSE",
	"eth.fcs:Never", "eth.trailer_length:0",
}

// dissect returns the headers that tshark finds in each frame, with offsets and fields. It reads PDML, because the
// output of -T fields has no offsets.
func dissect(t testing.TB, frames [][]byte) [][]header {
	t.Helper()
	tshark, err := exec.LookPath("tshark")
	require.NoError(t, err, "this test needs tshark: sudo apt-get install tshark")
	file := filepath.Join(t.TempDir(), "all.pcap")
	require.NoError(t, os.WriteFile(file, pcapOf(frames), 0o600))
	args := []string{"-n", "-r", file, "-T", "pdml", "-j", tsharkShown, "--disable-protocol", "rpcordma"}
	for _, p := range tsharkPrefs {
		args = append(args, "-o", p)
	}
	var stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), tshark, args...)
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	found, err := readPDML(out)
	require.NoError(t, errors.Join(err, cmd.Wait()), "tshark: %s", stderr.String())
	require.Len(t, found, len(frames))
	return found
}

// readPDML parses packets and their headers. It skips the sections about the packet as a whole, which are not part of
// the frame.
func readPDML(r io.Reader) (packets [][]header, err error) {
	d := xml.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	d.Strict = false
	for {
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return packets, nil
		}
		if err != nil {
			return nil, err
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		at := map[string]string{}
		for _, a := range e.Attr {
			at[a.Name.Local] = a.Value
		}
		pos, _ := strconv.Atoi(at["pos"]) // items without an offset are not looked at
		size, _ := strconv.Atoi(at["size"])
		switch e.Name.Local {
		case "packet":
			packets = append(packets, nil)
		case "proto":
			if name := at["name"]; name != "geninfo" {
				p := &packets[len(packets)-1]
				*p = append(*p, header{name, pos, pos + size, map[string]shown{}})
			}
		case "field":
			if hs := packets[len(packets)-1]; len(hs) > 0 {
				if h := hs[len(hs)-1]; h.fields[at["name"]] == (shown{}) {
					h.fields[at["name"]] = shown{pos, size, at["show"]}
				}
			}
		}
	}
}

// pcapOf returns a capture file of frames.
func pcapOf(frames [][]byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0xa1b2c3d4)
	b = le.AppendUint32(b, 2|4<<16) // version 2.4 of the format
	b = append(b, make([]byte, 8)...)
	b = le.AppendUint32(b, 1<<18)
	b = le.AppendUint32(b, 1) // link type Ethernet
	for i, f := range frames {
		for _, v := range []int{i, 0, len(f), len(f)} {
			b = le.AppendUint32(b, uint32(v))
		}
		b = append(b, f...)
	}
	return b
}
