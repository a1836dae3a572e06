package requester

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

func card(t *testing.T, s Spec) (*simcore.Engine, *board.Card, *Requester) {
	t.Helper()
	c, err := board.CardPreset("bf2")
	require.NoError(t, err)
	host := c.Endpoint.Limits
	host.MPS = s.MPS[nicspec.EndpointHost]
	c.Switch.Host.Limits = &host
	c.Switch.Arm.MemorySpec, c.Switch.Host.MemorySpec = board.MemorySpec{}, board.MemorySpec{}
	e, p := simcore.NewEngine(), new(board.Pools)
	var r *Requester
	b, err := board.NewCard(e, p, c, Factory(s, &r))
	require.NoError(t, err)
	return e, b, r
}

func TestBytesArrive(t *testing.T) {
	e, c, r := card(t, Default())
	armAt, hostAt := Memory(mem.Bus(nicspec.EndpointArm, 4096+3)), Memory(mem.Bus(nicspec.EndpointHost, 8192+60))
	for i, x := range []struct{ from, to Place }{{Wire, armAt}, {armAt, hostAt}, {hostAt, Wire}} {
		want := bytes.Repeat([]byte{byte(i + 1), 2, 3, 4, 5, 6, 7}, 1000)
		tr := &Transfer{From: x.from, To: x.to, Data: make([]byte, len(want))}
		ended := 0
		tr.Done = func(*Transfer, simcore.Ps) { ended++ }
		if x.from.Network {
			copy(tr.Data, want)
		} else {
			require.NoError(t, c.Memory.Write(x.from.Addr, want))
		}
		before := r.Moved()
		require.NoError(t, r.Start(tr))
		require.NoError(t, e.Run())
		require.NoError(t, r.Err())
		require.Equal(t, 1, ended)
		require.EqualValues(t, len(want), r.Moved()-before)
		got := tr.Data
		if !x.to.Network {
			got = make([]byte, len(want))
			require.NoError(t, c.Memory.Read(x.to.Addr, got))
		}
		require.Equal(t, want, got)
	}
	require.Zero(t, r.held, "the buffer is empty")
	require.EqualValues(t, 7000, r.Counters().NetPayloadIn)
	require.EqualValues(t, 7000, r.Counters().NetPayloadOut)
}

func TestNothingAllocatesInSteadyState(t *testing.T) {
	e, _, r := card(t, Default())
	data := make([]byte, 4096)
	copyTo := &Transfer{From: Memory(0), To: Memory(mem.Bus(nicspec.EndpointHost, 0)), Data: data,
		Done: func(*Transfer, simcore.Ps) {}}
	in := &Transfer{From: Wire, To: Memory(1 << 16), Data: data, Done: func(*Transfer, simcore.Ps) {}}
	out := &Transfer{From: Memory(1 << 17), To: Wire, Data: make([]byte, 4096), Done: func(*Transfer, simcore.Ps) {}}
	once := func() {
		for _, x := range []*Transfer{copyTo, in, out} {
			if err := r.Start(x); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Run(); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		once()
	}
	require.Less(t, testing.AllocsPerRun(50, once), 1.0)
}

// TestCopiesYieldOrTakeTurns starts many frames and a copy at once. A copy that takes turns with the frames ends long
// before the last of them; a copy that yields to frames ends after the last. The bytes must be right in either case.
func TestCopiesYieldOrTakeTurns(t *testing.T) {
	ended := func(policy Copies) (frame, copied simcore.Ps) {
		s := Default()
		s.Copies, s.Network.Rate = policy, simcore.Gbps(1000) // faster than the channel
		e, c, r := card(t, s)
		const n = 1 << 16
		want := bytes.Repeat([]byte{1, 2, 3}, n)[:n]
		host := mem.Bus(nicspec.EndpointHost, 1<<20)
		require.NoError(t, c.Memory.Write(host, want))
		for i := range 64 {
			in := &Transfer{From: Wire, To: Memory(uint64(i) << 17), Data: make([]byte, n),
				Done: func(_ *Transfer, now simcore.Ps) { frame = now }}
			require.NoError(t, r.Start(in))
		}
		x := &Transfer{From: Memory(host), To: Memory(mem.Bus(nicspec.EndpointArm, 1<<29)), Data: make([]byte, n),
			Done: func(_ *Transfer, now simcore.Ps) { copied = now }}
		require.NoError(t, r.Start(x))
		require.NoError(t, e.Run())
		require.NoError(t, r.Err())
		got := make([]byte, n)
		require.NoError(t, c.Memory.Read(x.To.Addr, got))
		require.Equal(t, want, got)
		return frame, copied
	}
	frame, copied := ended(InTurn)
	require.Less(t, copied, frame/4)
	frame, copied = ended(Yield)
	require.Greater(t, copied, frame)
}

func TestMistakes(t *testing.T) {
	s := Default()
	s.Network = Network{}
	_, _, r := card(t, s)
	done := func(*Transfer, simcore.Ps) {}
	for _, x := range []struct {
		t    Transfer
		want string
	}{
		{Transfer{From: Memory(0), To: Memory(64), Data: []byte{1}}, "without bytes or Done"},
		{Transfer{From: Wire, To: Wire, Data: []byte{1}, Done: done}, "want memory on one side"},
		{Transfer{From: Wire, To: Memory(0), Data: []byte{1}, Done: done}, "a network that its spec does not have"},
		{Transfer{From: Memory(5 << 56), To: Memory(0), Data: []byte{1}, Done: done}, "want Arm or host memory"},
	} {
		require.ErrorContains(t, r.Start(&x.t), x.want)
	}
	bad := Spec{Copies: "first", Network: Network{Header: 1}}
	err := bad.Validate()
	for _, path := range []string{"mps[0]", "mps[1]", "mrrs", "tags", "buffer_bytes", "port_tlps",
		`copies "first": want turn, yield`, "net_rate", "net_mtu"} {
		require.ErrorContains(t, err, path)
	}
	require.NoError(t, new(Spec).with(Default()).Validate())
}

func (s *Spec) with(o Spec) *Spec { *s = o; return s }
