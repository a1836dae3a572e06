package rtlbridge

import (
	"encoding/hex"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/protocol"
)

// fakeDevice answers one client on a Unix socket; script gets the connection after the OPEN frame has been read.
func fakeDevice(t *testing.T, script func(net.Conn)) string {
	t.Helper()
	path := socketPath(t)
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := io.ReadFull(c, make([]byte, protocol.HeadBytes+protocol.OpenBytes)); err != nil {
			return
		}
		script(c)
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return "unix:" + path
}

// socketPath returns a path for a socket: in the working folder, which becomes a temporary one, because a
// temporary folder's path may be longer than a socket's address.
func socketPath(t *testing.T) string {
	t.Helper()
	t.Chdir(t.TempDir())
	return "s"
}

// testHello returns the introduction that the byte vectors and the fake devices use.
func testHello() *protocol.Hello {
	h := &protocol.Hello{Version: protocol.Version, PeriodPs: 2500,
		Clocks:   []protocol.ClockInfo{{Name: "clk", PeriodPs: 2500}, {Name: "aux", PeriodPs: 3333}},
		MaxFrame: protocol.MaxFrameBytes, Busy: 0}
	for i := range h.BuildHash {
		h.BuildHash[i] = byte(i)
	}
	h.Streams = []protocol.StreamInfo{
		{Name: "eth_in", Kind: protocol.KindAxis, Ready: true, KeepUnit: 1, DataBytes: 64},
		{Name: "tlp_in", Kind: protocol.KindTLP, Ready: true, KeepUnit: 4, DataBytes: 128, SideBytes: 16,
			Fields: []protocol.Signal{{Name: "thdr", Width: 128}}},
		{Name: "eth_out", Kind: protocol.KindAxis, Out: true, Ready: true, KeepUnit: 1, DataBytes: 64, SideBytes: 2,
			Fields: []protocol.Signal{{Name: "tuser", Width: 9}}},
		{Name: "req", Kind: protocol.KindRecord, SideBytes: 3, Clock: 1,
			Fields: []protocol.Signal{{Name: "addr", Width: 12}, {Name: "go", Width: 1}}},
	}
	h.Observe = []protocol.Signal{{Name: "busy", Width: 1}}
	h.Ties = []protocol.Signal{{Name: "defect_i", Width: 4}}
	return h
}

func appendHello(b []byte, h *protocol.Hello) []byte {
	at := len(b)
	b = append(b, make([]byte, protocol.HeadBytes)...)
	b = protocol.Le.AppendUint64(b, protocol.Magic)
	for _, v := range []int{h.Version, len(h.Streams), len(h.Observe), len(h.Ties)} {
		b = protocol.Le.AppendUint16(b, uint16(v))
	}
	b = append(b, h.BuildHash[:]...)
	b = protocol.Le.AppendUint64(b, uint64(len(h.Clocks)))
	b = protocol.Le.AppendUint32(b, uint32(h.MaxFrame))
	b = protocol.Le.AppendUint32(b, uint32(h.Busy))
	bit := func(v bool) byte {
		if v {
			return 1
		}
		return 0
	}
	for _, k := range h.Clocks {
		b = protocol.Le.AppendUint64(b, uint64(k.PeriodPs))
		b = protocol.Le.AppendUint64(b, uint64(len(k.Name)))
		b = protocol.AppendPadded(b, []byte(k.Name))
	}
	signal := func(s protocol.Signal, flags byte) {
		b = protocol.Le.AppendUint16(b, uint16(s.Width))
		b = protocol.Le.AppendUint16(b, uint16(len(s.Name)))
		b = protocol.Le.AppendUint32(b, uint32(flags))
		b = protocol.AppendPadded(b, []byte(s.Name))
	}
	for _, s := range h.Streams {
		b = append(b, byte(slices.Index(protocol.KindCodes[:], s.Kind)), bit(s.Out), byte(s.KeepUnit), bit(s.Ready))
		b = protocol.Le.AppendUint32(b, uint32(s.DataBytes))
		b = protocol.Le.AppendUint16(b, uint16(s.SideBytes))
		b = protocol.Le.AppendUint16(b, uint16(len(s.Name)))
		b = protocol.Le.AppendUint16(b, uint16(len(s.Fields)))
		b = protocol.Le.AppendUint16(b, uint16(s.Clock))
		b = protocol.AppendPadded(b, []byte(s.Name))
		for _, f := range s.Fields {
			signal(f, 0)
		}
	}
	for i, list := range [][]protocol.Signal{h.Observe, h.Ties} {
		for j, s := range list {
			signal(s, bit(h.SkipIdle && i == 0 && j == h.Busy))
		}
	}
	protocol.PutHead(b[at:], protocol.FrameHello, len(b)-at-protocol.HeadBytes)
	return b
}

func appendRan(b []byte, r *protocol.Ran, records []protocol.Record) []byte {
	at := len(b)
	b = append(b, make([]byte, protocol.HeadBytes)...)
	b = protocol.Le.AppendUint64(b, r.Index)
	b = protocol.Le.AppendUint64(b, r.Start)
	b = protocol.Le.AppendUint32(b, r.Cycles)
	b = protocol.Le.AppendUint32(b, r.Flags)
	b = protocol.Le.AppendUint64(b, r.RTLNs)
	b = protocol.Le.AppendUint32(b, uint32(len(records)))
	b = protocol.Le.AppendUint16(b, uint16(len(r.Observed)))
	b = protocol.Le.AppendUint16(b, 0)
	for _, o := range r.Observed {
		b = protocol.Le.AppendUint64(b, o.Value)
		b = protocol.Le.AppendUint64(b, o.LastNonzero)
	}
	for _, x := range records {
		b = append(b, byte(x.Kind), x.Stream, x.Flags, byte(x.Rule))
		b = protocol.Le.AppendUint32(b, uint32(len(x.Data)))
		b = protocol.Le.AppendUint64(b, x.Ordinal)
		b = protocol.Le.AppendUint64(b, x.First)
		b = protocol.Le.AppendUint64(b, x.Last)
		b = protocol.AppendPadded(b, x.Side)
		b = protocol.AppendPadded(b, x.Data)
	}
	protocol.PutHead(b[at:], protocol.FrameRan, len(b)-at-protocol.HeadBytes)
	return b
}

func appendError(b []byte, e *protocol.DeviceError) []byte {
	at := len(b)
	b = append(b, make([]byte, protocol.HeadBytes)...)
	b = protocol.Le.AppendUint32(b, uint32(e.Code))
	b = protocol.Le.AppendUint32(b, uint32(len(e.Text)))
	b = protocol.Le.AppendUint64(b, e.Cycle)
	b = protocol.AppendPadded(b, []byte(e.Text))
	protocol.PutHead(b[at:], protocol.FrameError, len(b)-at-protocol.HeadBytes)
	return b
}

func mustHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}
