package transport

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

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// emitted plays schedules of all services and returns the frames sent.
func emitted(t *testing.T) (frames [][]byte) {
	keep := func(f []byte) { frames = append(frames, bytes.Clone(f)) }
	for seed := uint64(1); seed <= 150; seed++ {
		s := drawSchedule(seed)
		s.frames, s.v6 = true, seed%2 == 0
		r, plans, err := rcRig(s, nil, nil)
		require.NoError(t, err)
		r.log = keep
		for i, e := range r.ends {
			e.complete = func(c *Completion) { r.onCompletion(e, plans[i], plans[1-i], c) }
		}
		r.play()
		require.NoError(t, r.failure)
	}
	for i, kind := range []Kind{UC, UD, Solar, UC, UD, Solar} {
		s := weakSchedule(uint64(i + 1))
		s.frames, s.v6 = true, i > 2
		r := pair(t, s, kind)
		r.log = keep
		a, b := r.ends[0], r.ends[1]
		for k, op := range []verbs.Opcode{verbs.WRSend, verbs.WRSendImm, verbs.WRWrite, verbs.WRWriteImm,
			verbs.WRRead} {
			for _, length := range []uint32{101, 1301} {
				if !kind.allows(op) || kind == UD && length > uint32(s.mtu) {
					continue
				}
				if kind != Solar {
					require.NoError(t,
						b.conn.PostRecv(&Recv{Spans: []Span{{Addr: base64k + recvAt, Len: 2048, Key: keyLocal}}}))
				}
				require.NoError(t,
					a.conn.Post(0,
						&Send{ID: uint64(k), Op: op, Spans: []Span{{Addr: base64k, Len: length, Key: keyLocal}},
							RKey:       keyRemote,
							RemoteAddr: base64k + remoteAt, AH: NewAH(path(0, s.v6)), RemoteQP: 101,
							RemoteQKey: 0x5555}))
			}
		}
		a.pull()
		r.play()
		require.NoError(t, r.failure)
	}
	return frames
}

// writeCapture writes frames to a pcap file.
func writeCapture(t *testing.T, file string, frames [][]byte) {
	f, err := os.Create(file)
	require.NoError(t, err)
	w := pcapgo.NewWriter(f)
	require.NoError(t, w.WriteFileHeader(65535, layers.LinkTypeEthernet))
	for i, b := range frames {
		require.NoError(t,
			w.WritePacket(gopacket.CaptureInfo{Timestamp: time.Unix(int64(i), 0), CaptureLength: len(b),
				Length: len(b)}, b))
	}
	require.NoError(t, f.Close())
}

// TestTsharkReadsWhatIsEmitted checks that no frame is malformed, and that tshark decodes opcode, PSN and queue pair
// correctly.
func TestTsharkReadsWhatIsEmitted(t *testing.T) {
	frames := emitted(t)
	tshark, err := exec.LookPath("tshark")
	require.NoError(t, err, "this test needs tshark: sudo apt-get install tshark")
	file := filepath.Join(t.TempDir(), "all.pcap")
	writeCapture(t, file, frames)
	var stderr strings.Builder
	args := []string{"-n", "-r", file, "--disable-protocol", "rpcordma", "-o", "ip.check_checksum:TRUE", "-T", "fields",
		"-e", "infiniband.bth.opcode",
		"-e", "infiniband.bth.psn", "-e", "infiniband.bth.destqp", "-e", "infiniband.bth.padcnt", "-e",
		"ip.checksum.status", "-e", "_ws.malformed", "-e", "_ws.expert.message"}
	for _, guess := range []string{"eth_over_ib", "mellanox_eoib"} {
		// the payload is arbitrary: keep tshark from guessing at protocols in it
		args = append(args, "--disable-heuristic", guess)
	}
	cmd := exec.CommandContext(t.Context(), tshark, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "tshark: %s", stderr.String())
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	require.Len(t, lines, len(frames))
	ops := map[wire.Opcode]int{}
	for i, l := range lines {
		c := strings.Split(l, "\t")
		require.Len(t, c, 7)
		off, _, err := wire.L3Offset(frames[i])
		require.NoError(t, err)
		bth := wire.BTH(frames[i][ipSize(frames[i])+udpSize:])
		require.Equal(t, []string{fmt.Sprint(uint8(bth.Opcode())), fmt.Sprint(bth.PSN()), fmt.Sprint(bth.DestQP()),
			fmt.Sprint(bth.PadCnt())},
			[]string{c[0], c[1], number(t, c[2]), c[3]}, "frame %d", i)
		require.Contains(t, []string{"", "1"}, c[4], "IPv4 header checksum of frame %d", i)
		require.Empty(t, c[5], "frame %d, %v, is malformed", i, bth.Opcode())
		if frames[i][12] == 0x86 { // over IPv6 RoCEv2 senders set the UDP checksum to 0 (RFC 6935)
			c[6] = strings.TrimPrefix(c[6], "Illegal checksum value (0)")
		}
		require.Empty(t, c[6], "frame %d, %v", i, bth.Opcode())
		require.Equal(t, wire.OK, wire.VerifyICRC(frames[i][off:]).Verdict)
		ops[bth.Opcode()]++
	}
	t.Log(len(frames), "frames", ops)
	for o := range 256 {
		if op := wire.Opcode(o); op.Info().Known {
			require.NotZero(t, ops[op], "no frame of %v", op)
		}
	}
	for _, op := range []wire.Opcode{OpSelectiveAck, OpSolarWrite, OpSolarRead, OpSolarData, OpSolarAck} {
		require.NotZero(t, ops[op], "no frame of %#x", uint8(op))
	}
}

func number(t *testing.T, cell string) string {
	v, err := strconv.ParseUint(cell, 0, 64)
	require.NoError(t, err)
	return fmt.Sprint(v)
}
