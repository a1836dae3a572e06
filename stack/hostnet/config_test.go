package hostnet

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/rpc"
)

// wordsOf returns bytes in hexadecimal, in words of the given lengths.
func wordsOf(b []byte, lengths ...int) string {
	var words []string
	for _, n := range lengths {
		words, b = append(words, hex.EncodeToString(b[:n])), b[n:]
	}
	return strings.Join(words, " ")
}

// TestBadConfig checks that a single error names all wrong fields of a configuration.
func TestBadConfig(t *testing.T) {
	twice := FlowConfig{Ends: addresses(false), Source: nothing{}}
	_, err := New(Config{Flows: []FlowConfig{
		{Core: 1, Ends: addresses(false), RPC: rpc.DefaultSpec(9001), Client: silent{}, Outstanding: 0}, twice, twice,
		{Ends: addresses(true)},
	}, Spec: Spec{ReceiveCycles: -1, TransmitCycles: -1}, Port: addresses(false).Local})
	for _, says := range []string{
		"rx_cycles -1: want 0 to", "tx_cycles -1", "poll_cycles 0", "burst 0: want 1 to 1024", "repost 0",
		"log_receive 0: want 2 to 15", "log_transmit 0", "buffer_bytes 0B: want 64B to 9KiB", "answer_timeout 0",
		"0 cores for flows: want 1 or more", "limits of the roots behind the NIC",
		"flow 0: core 1: want 0 to -1", "segment 9001: want 1 to 9000",
		"0 requests outstanding: want 1 to 65536", "flow 2: UDP port 1111: flow 1 has it",
		"flow 3: core 0", "0 applications: want one of Server, Client, Source and Sink",
		"flow 3: local address {[2 1 0 0 0 0] fd00::1}: want",
	} {
		require.ErrorContains(t, err, says)
	}
	flow := FlowConfig{Ends: addresses(true), RPC: rpc.DefaultSpec(1), Server: nil, Client: silent{}, Outstanding: 1,
		AnswerBytes: 9103, ReceiveCycles: new(int64(-1))}
	require.ErrorContains(t, flow.validate(1), "answers of 9103 bytes: want 0 to 9102")
	require.ErrorContains(t, flow.validate(1), "-1 cycles for a packet: want 0 to 1048576")
}

// TestResources checks that each resource is handed out once, and that a request fails once none is left.
func TestResources(t *testing.T) {
	r := Resources{build: nicspec.DefaultBuild()}
	for i := range r.build.NumRules {
		n, err := r.TakeRule()
		require.NoError(t, err)
		require.Equal(t, i, n)
	}
	_, err := r.TakeRule()
	require.ErrorContains(t, err, "steering rules: the NIC's 64 are in use")
	n, err := r.TakeAccount()
	require.NoError(t, err)
	require.Zero(t, n)
	r.build.Parts &^= nicspec.PartAccounts
	_, err = r.TakeAccount()
	require.ErrorContains(t, err, "want a NIC with part accounts")
}

// silent is a client without requests; `nothing` is a source without datagrams.
type silent struct{}

func (silent) Next(Ps, uint32) (int, bool)                { return 0, false }
func (silent) Wake() Ps                                   { return Never }
func (silent) Fill(uint32, int, []byte)                   {}
func (silent) Answered(_, _ Ps, _ uint32, _ []byte) error { return nil }
func (silent) Idle() bool                                 { return true }

type nothing struct{}

func (nothing) Next(Ps, []byte) (int, bool) { return 0, false }
func (nothing) Longest() int                { return 0 }
func (nothing) Wake() Ps                    { return Never }
func (nothing) Idle() bool                  { return true }
