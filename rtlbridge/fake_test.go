package rtlbridge

import (
	"encoding/hex"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
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
		if _, err := io.ReadFull(c, make([]byte, headBytes+openBytes)); err != nil {
			return
		}
		script(c)
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return "unix:" + path
}

// socketPath is where a socket can be: in the working folder, which is a temporary one from now on, because a temporary
// folder's path may be longer than a socket's address.
func socketPath(t *testing.T) string {
	t.Helper()
	t.Chdir(t.TempDir())
	return "s"
}

// testHello is the introduction that the byte vectors and the fake devices use.
func testHello() *Hello {
	h := &Hello{Version: Version, PeriodPs: 2500, Clocks: []ClockInfo{{"clk", 2500}, {"aux", 3333}}, MaxFrame: MaxFrameBytes, Busy: 0}
	for i := range h.BuildHash {
		h.BuildHash[i] = byte(i)
	}
	h.Streams = []StreamInfo{
		{Name: "eth_in", Kind: KindAxis, Ready: true, KeepUnit: 1, DataBytes: 64},
		{Name: "tlp_in", Kind: KindTLP, Ready: true, KeepUnit: 4, DataBytes: 128, SideBytes: 16, Fields: []Signal{{"thdr", 128}}},
		{Name: "eth_out", Kind: KindAxis, Out: true, Ready: true, KeepUnit: 1, DataBytes: 64, SideBytes: 2, Fields: []Signal{{"tuser", 9}}},
		{Name: "req", Kind: KindRecord, SideBytes: 3, Clock: 1, Fields: []Signal{{"addr", 12}, {"go", 1}}},
	}
	h.Observe = []Signal{{"busy", 1}}
	h.Ties = []Signal{{"defect_i", 4}}
	return h
}

func appendHello(b []byte, h *Hello) []byte {
	at := len(b)
	b = append(b, make([]byte, headBytes)...)
	b = le.AppendUint64(b, magic)
	for _, v := range []int{h.Version, len(h.Streams), len(h.Observe), len(h.Ties)} {
		b = le.AppendUint16(b, uint16(v))
	}
	b = append(b, h.BuildHash[:]...)
	b = le.AppendUint64(b, uint64(len(h.Clocks)))
	b = le.AppendUint32(b, uint32(h.MaxFrame))
	b = le.AppendUint32(b, uint32(h.Busy))
	bit := func(v bool) byte {
		if v {
			return 1
		}
		return 0
	}
	for _, k := range h.Clocks {
		b = le.AppendUint64(b, uint64(k.PeriodPs))
		b = le.AppendUint64(b, uint64(len(k.Name)))
		b = appendPadded(b, []byte(k.Name))
	}
	signal := func(s Signal, flags byte) {
		b = le.AppendUint16(b, uint16(s.Width))
		b = le.AppendUint16(b, uint16(len(s.Name)))
		b = le.AppendUint32(b, uint32(flags))
		b = appendPadded(b, []byte(s.Name))
	}
	for _, s := range h.Streams {
		b = append(b, byte(slices.Index(kindCodes[:], s.Kind)), bit(s.Out), byte(s.KeepUnit), bit(s.Ready))
		b = le.AppendUint32(b, uint32(s.DataBytes))
		b = le.AppendUint16(b, uint16(s.SideBytes))
		b = le.AppendUint16(b, uint16(len(s.Name)))
		b = le.AppendUint16(b, uint16(len(s.Fields)))
		b = le.AppendUint16(b, uint16(s.Clock))
		b = appendPadded(b, []byte(s.Name))
		for _, f := range s.Fields {
			signal(f, 0)
		}
	}
	for i, list := range [][]Signal{h.Observe, h.Ties} {
		for j, s := range list {
			signal(s, bit(h.SkipIdle && i == 0 && j == h.Busy))
		}
	}
	putHead(b[at:], FrameHello, len(b)-at-headBytes)
	return b
}

func appendRan(b []byte, r *Ran, records []Record) []byte {
	at := len(b)
	b = append(b, make([]byte, headBytes)...)
	b = le.AppendUint64(b, r.Index)
	b = le.AppendUint64(b, r.Start)
	b = le.AppendUint32(b, r.Cycles)
	b = le.AppendUint32(b, r.Flags)
	b = le.AppendUint64(b, r.RTLNs)
	b = le.AppendUint32(b, uint32(len(records)))
	b = le.AppendUint16(b, uint16(len(r.Observed)))
	b = le.AppendUint16(b, 0)
	for _, o := range r.Observed {
		b = le.AppendUint64(b, o.Value)
		b = le.AppendUint64(b, o.LastNonzero)
	}
	for _, x := range records {
		b = append(b, byte(x.Kind), x.Stream, x.Flags, byte(x.Rule))
		b = le.AppendUint32(b, uint32(len(x.Data)))
		b = le.AppendUint64(b, x.Ordinal)
		b = le.AppendUint64(b, x.First)
		b = le.AppendUint64(b, x.Last)
		b = appendPadded(b, x.Side)
		b = appendPadded(b, x.Data)
	}
	putHead(b[at:], FrameRan, len(b)-at-headBytes)
	return b
}

func appendError(b []byte, e *DeviceError) []byte {
	at := len(b)
	b = append(b, make([]byte, headBytes)...)
	b = le.AppendUint32(b, uint32(e.Code))
	b = le.AppendUint32(b, uint32(len(e.Text)))
	b = le.AppendUint64(b, e.Cycle)
	b = appendPadded(b, []byte(e.Text))
	putHead(b[at:], FrameError, len(b)-at-headBytes)
	return b
}

func mustHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}
