package order

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
)

var (
	write    = tlp.Header{Kind: tlp.MWr, Length: 1, FirstBE: 0xf, RequesterID: 0x200}
	writeRO  = tlp.Header{Kind: tlp.MWr, Length: 1, FirstBE: 0xf, RequesterID: 0x200, Attr: tlp.RelaxedOrder}
	writeIDO = tlp.Header{Kind: tlp.MWr, Length: 1, FirstBE: 0xf, RequesterID: 0x300, Attr: tlp.IDBasedOrder}
	message  = tlp.Header{Kind: tlp.MsgD, Length: 1, Routing: tlp.RouteByID, Code: tlp.CodeVendor1}
	read     = tlp.Header{Kind: tlp.MRd, Length: 1, FirstBE: 0xf, RequesterID: 0x200, Tag: 1}
	readRO   = tlp.Header{Kind: tlp.MRd, Length: 1, FirstBE: 0xf, RequesterID: 0x200, Tag: 2, Attr: tlp.RelaxedOrder}
	readIDO  = tlp.Header{Kind: tlp.MRd, Length: 1, FirstBE: 0xf, RequesterID: 0x300, Tag: 2, Attr: tlp.IDBasedOrder}
	cpl      = tlp.Header{Kind: tlp.CplD, Length: 1, RequesterID: 0x100, Tag: 1, ByteCount: 4}
	cplRO    = tlp.Header{Kind: tlp.CplD, Length: 1, RequesterID: 0x100, Tag: 2, ByteCount: 4, Attr: tlp.RelaxedOrder}
	cplIDO   = tlp.Header{Kind: tlp.CplD, Length: 1, RequesterID: 0x300, Tag: 2, ByteCount: 4, Attr: tlp.IDBasedOrder}
	cplOther = tlp.Header{Kind: tlp.Cpl, RequesterID: 0x100, Tag: 3, ByteCount: 4, Status: tlp.StatusUR}
)

// cells has the entries of PCIe table 2-40, except row C and column 4, non-posted requests with data: package tlp
// refuses them.
var cells = []struct {
	cell          string
	second, first tlp.Header
	want          Passing
}{
	{"A2a", write, write, MustNotPass},
	{"A2a", message, write, MustNotPass},
	{"A2a", write, writeRO, MustNotPass}, // the RO bit of the second TLP decides
	{"A2b RO", writeRO, write, MayPass},
	{"A2b RO", writeRO, message, MayPass},
	{"A2b IDO, not supported", writeIDO, write, MustNotPass},
	{"A3", write, read, MustPass},
	{"A3", message, readRO, MustPass},
	{"A5a", write, cpl, MayPass},
	{"A5a", writeRO, cplRO, MayPass},
	{"B2a", read, write, MustNotPass},
	{"B2a", read, message, MustNotPass},
	{"B2a", readRO, write, MustNotPass},
	{"B2b IDO, not supported", readIDO, write, MustNotPass},
	{"B3", read, readRO, MayPass},
	{"B5", read, cpl, MayPass},
	{"D2a", cpl, write, MustNotPass},
	{"D2a", cpl, message, MustNotPass},
	{"D2b RO", cplRO, write, MayPass},
	{"D2b IDO, not supported", cplIDO, write, MustNotPass},
	{"D3", cpl, read, MustPass},
	{"D3", cplOther, readRO, MustPass},
	{"D5a", cpl, cplOther, MayPass},
	{"D5b", cpl, cpl, MustNotPass},
	{"D5b", cplRO, cplRO, MustNotPass},
}

// TestCellsAreWhole: cells tests every cell of the table, except A5b, which is for bridges to PCI,
// and row C and column 4, whose requests package tlp refuses.
func TestCellsAreWhole(t *testing.T) {
	tested := map[string]bool{}
	for _, x := range cells {
		name, _, _ := strings.Cut(x.cell, " ")
		tested[name] = true
	}
	want := map[string]bool{}
	for _, row := range []string{"A", "B", "D"} {
		for _, column := range []string{"2a", "2b", "3"} {
			want[row+column] = true
		}
	}
	for _, cell := range []string{"A5a", "B5", "D5a", "D5b"} {
		want[cell] = true
	}
	require.Equal(t, want, tested)
}

// gate is open for the classes that are true.
type gate [3]bool

func (g gate) Open(c tlp.Class, _ string) bool { return g[c] }

// TestEveryCell checks every cell of the table, by Entry and by a queue whose first TLP cannot
// leave.
func TestEveryCell(t *testing.T) {
	for _, x := range cells {
		t.Run(fmt.Sprintf("%s %v over %v", x.cell, x.second.Kind, x.first.Kind), func(t *testing.T) {
			second, first := KeyOf(&x.second), KeyOf(&x.first)
			require.Equal(t, x.want, Entry(second, first), "%v", Entry(second, first))
			var q Queue[string]
			q.Push(first, "first")
			q.Push(second, "second")
			v, ok := q.Next(stubborn{})
			require.Equal(t, x.want != MustNotPass, ok)
			if ok {
				require.Equal(t, "second", v)
				q.Rewind()
			}
			for _, want := range []string{"first", "second"}[:q.Len()] {
				q.Rewind()
				v, ok = q.Next(gate{true, true, true})
				require.True(t, ok)
				require.Equal(t, want, v)
			}
		})
	}
}

// stubborn is a gate that is open for all TLPs but the first.
type stubborn struct{}

func (stubborn) Open(_ tlp.Class, v string) bool { return v != "first" }

// TestNonPostedRequestsWithDataAreRefused: requests of row C and column 4 cannot be in a queue,
// since Decode refuses them.
func TestNonPostedRequestsWithDataAreRefused(t *testing.T) {
	for _, fmtType := range []byte{0x42, 0x44, 0x4c, 0x5b, 0x6c} { // IOWr, CfgWr0, FetchAdd, DMWr, FetchAdd64
		_, err := tlp.Decode(&[tlp.HeaderBytes]byte{fmtType, 0, 0, 1})
		require.Error(t, err, "%#x", fmtType)
	}
}

// naive is a queue that obeys PCIe's ordering table by comparing every pair of TLPs.
type naive struct {
	keys []Key
	vals []int
}

func (n *naive) next(open func(tlp.Class) bool) int {
	for i, k := range n.keys {
		ok := open(k.Class)
		for _, f := range n.keys[:i] {
			ok = ok && Entry(k, f) != MustNotPass
		}
		if ok {
			v := n.vals[i]
			n.keys, n.vals = append(n.keys[:i:i], n.keys[i+1:]...), append(n.vals[:i:i], n.vals[i+1:]...)
			return v
		}
	}
	return -1
}

type numbers [3]bool

func (g *numbers) Open(c tlp.Class, _ int) bool { return g[c] }

// TestQueueAgainstNaive compares Queue with type naive step by step, with gates that open and close
// at random.
func TestQueueAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var q Queue[int]
	var n naive
	g := new(numbers)
	for i := range 100_000 {
		if r.IntN(2) == 0 && q.Len() < 40 {
			k := Key{Class: tlp.Class(r.IntN(3)), Relaxed: r.IntN(4) == 0, ID: uint32(r.IntN(3))}
			q.Push(k, i)
			n.keys, n.vals = append(n.keys, k), append(n.vals, i)
		}
		if r.IntN(3) == 0 {
			*g = numbers{r.IntN(3) == 0, r.IntN(3) == 0, r.IntN(3) == 0}
			q.Rewind()
		}
		v, ok := q.Next(g)
		if !ok {
			v = -1
		}
		require.Equal(t, n.next(func(c tlp.Class) bool { return g[c] }), v, "step %d", i)
		require.Equal(t, len(n.keys), q.Len())
	}
}

func TestQueueAllocatesNothing(t *testing.T) {
	var q Queue[int]
	g := &numbers{true, true, true}
	step := func() {
		for i := range 10 {
			q.Push(Key{Class: tlp.Class(i % 3), ID: uint32(i)}, i)
		}
		q.Rewind()
		for _, ok := q.Next(g); ok; _, ok = q.Next(g) {
		}
	}
	step()
	require.Zero(t, testing.AllocsPerRun(100, step))
	require.Zero(t, q.Len())
}
