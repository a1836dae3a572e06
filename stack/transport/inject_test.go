package transport

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
)

// deviations lists our answers where they differ from rxe's: rxe deviates from the standard, or knew something that the
// case does not show.
var deviations = map[string]string{
	"first_short_payload":   "RC_ACK 256 NAK invalid request 0",
	"only_over_mtu":         "RC_ACK 256 NAK invalid request 0",
	"last_zero_payload":     "RC_ACK 257 NAK invalid request 0",
	"pad_on_middle":         "RC_ACK 257 NAK invalid request 0", // its payload is shorter than the MTU
	"read_with_payload":     "RC_ACK 256 NAK invalid request 0",
	"send_over_recv_size":   "RC_ACK 257 NAK invalid request 0",
	"opcode_rc_reserved_15": "RC_ACK 256 NAK invalid request 0",
	"opcode_1e":             "RC_ACK 256 NAK invalid request 0",
	"send_no_recv_rnr":      "RC_ACK 256 RNR NAK timer 12 0", // and no answer to what follows
	"psn_far_behind":        "RC_ACK 255 ACK 0",              // of the PSN before the expected one; rxe: before 0
	"psn_half_window":       "RC_ACK 255 ACK 0",
}

// rereads lists the cases with a duplicate READ that this package answers like a new READ, from READ RESPONSE FIRST on.
// rxe continues the numbering of the first answer, or requires the address of the first READ.
var rereads = map[string]bool{"read_dup_partial": true, "read_dup_different_va": true}

// TestInjectedRequests expects the answers of inject_v4.json to single requests, good and bad.
func TestInjectedRequests(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(capturesDir, "inject_v4.json"))
	require.NoError(t, err)
	var cases []struct {
		Case string   `json:"case"`
		Sent []string `json:"sent"`
		Resp []struct {
			Op, PSN, Syn, MSN uint32
		} `json:"resp"`
		State struct {
			State int      `json:"state"`
			WC    [][3]int `json:"wc"`
			Mem8  string   `json:"mem8"`
		} `json:"state"`
	}
	require.NoError(t, json.Unmarshal(b, &cases))
	require.Len(t, cases, 59)
	for i, c := range cases {
		t.Run(c.Case, func(t *testing.T) {
			x := injected(t, c.Case, uint32(17+i))
			for _, h := range c.Sent {
				frame, err := hex.DecodeString(h)
				require.NoError(t, err)
				if s := decode(frame); s != nil && s.BTH.DestQP == x.qpn {
					x.serve(s)
				}
			}
			var want, got []string
			for _, r := range c.Resp {
				want = append(want, fmt.Sprint(wire.Opcode(r.Op), r.PSN, wire.Syndrome(r.Syn), r.MSN))
			}
			for _, s := range x.got {
				got = append(got, fmt.Sprint(s.BTH.Opcode, s.BTH.PSN, s.AETH.Syndrome, s.AETH.MSN))
			}
			if rereads[c.Case] {
				require.Equal(t, want[:3], got[:3])
				require.Equal(t, wire.RCReadRespFirst, x.got[3].BTH.Opcode)
				return
			}
			if d, ok := deviations[c.Case]; ok {
				require.Equal(t, []string{d}, got)
				return
			}
			require.Equal(t, want, got)
			require.EqualValues(t, c.State.State, x.conn.State())
			x.sameCompletions(c.State.WC)
			mem := make([]byte, 16)
			for k := range mem {
				mem[k] = x.mem[injectVA+8+uint64(k)]
			}
			require.Equal(t, c.State.Mem8, hex.EncodeToString(mem))
		})
	}
}

// sameCompletions checks the completions polled against status, opcode and length of the recorded ones.
func (x *peer) sameCompletions(want [][3]int) {
	require.GreaterOrEqual(x.t, len(x.done), len(want))
	for i, w := range want {
		d := x.done[i]
		got := [3]int{int(d.Status), int(d.Opcode), int(d.ByteLen)}
		require.Equal(x.t, w, got)
	}
}

const injectVA, injectKey, injectBytes = 0x1d9cb000, 0x25e, 0x10000

// injected returns the responder of a case: MTU 256, 64 KB of memory, and receive requests unless the case is about
// their absence.
func injected(t *testing.T, name string, qpn uint32) *peer {
	x := &peer{t: t, mem: map[uint64]byte{},
		regions: map[uint32][2]uint64{injectKey: {injectVA, injectVA + injectBytes}}}
	for i := range uint64(1024) {
		x.mem[injectVA+i] = byte(i)
	}
	psn, size := uint32(256), uint32(1<<16)
	switch name {
	case "psn_wrap":
		psn = 0xffffff
	case "send_over_recv_size":
		size = 300
	}
	x.connect(RC, 256, qpn, psn, 12)
	if name != "write_only_imm_no_recv_posted" && name != "send_no_recv_rnr" {
		for range 4 {
			x.postRecv(size)
		}
	}
	return x
}
