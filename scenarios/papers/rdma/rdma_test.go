package rdma

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/rnic"
	"nictwin/models/rnic/rnicspec"
	"nictwin/scenarios/papers/study"
)

func session(t *testing.T, x *study.Experiment, replaced ...string) *study.Session {
	t.Helper()
	s, err := study.NewSession(context.Background(), x, 1, replaced...)
	require.NoError(t, err)
	return s
}

func ask(t *testing.T, s *study.Session, x transport, path string, size, machines int) outcome {
	t.Helper()
	o, err := onPath(s, x, path, size, machines)
	require.NoError(t, err)
	return o
}

var read, write, datagram = transports[0], transports[1], transports[3]

// TestLatencyAddsUp checks that a request to the SmartNIC takes longer than one to a plain NIC by two crossings of the
// card's switch and link, 175 ns each, and the 50 ns that the card adds.
func TestLatencyAddsUp(t *testing.T) {
	s := session(t, &Latency)
	at := func(x transport, path string) float64 {
		us, err := latencyOf(s, x, path, 64)
		require.NoError(t, err)
		return us
	}
	require.InDelta(t, 2*0.175+0.05, at(read, path1)-at(read, path0), 0.01, "there and back")
	require.InDelta(t, 2*0.175+0.05, at(write, path1)-at(write, path0), 0.01, "there, and the notice back")
	require.Less(t, at(read, path2), at(read, path1))
	require.Greater(t, at(read, s2h), at(read, h2s), "MMIO of the Arm is slower")
	bare := session(t, &Latency, "bf2.rc", "nic.latency")
	us, err := latencyOf(bare, read, path1, 64)
	require.NoError(t, err)
	require.InDelta(t, 0.05+2*0.05, at(read, path1)-us, 0.01, "what was set by claims is left out")
}

// TestPicturesShowAllThatIsJudged checks that claims about small requests are drawn at all sizes that they are judged
// at.
func TestPicturesShowAllThatIsJudged(t *testing.T) {
	ends := []float64{float64(smallSizes[0]), float64(smallSizes[len(smallSizes)-1])}
	drawn := 0
	for _, p := range latencyPictures {
		for _, x := range p.Printed {
			if len(x.At) > 1 {
				require.Equal(t, ends, x.At, x.Claim)
				drawn++
			}
		}
	}
	require.Equal(t, 5, drawn)
}

// TestPicturesOfLongMessages checks that claims about them are drawn where they hold: from 64 KB on, and the packets on
// both links at 256 KB, a size that is measured.
func TestPicturesOfLongMessages(t *testing.T) {
	for name, p := range largePictures {
		for _, x := range p.Printed {
			if x.Is == study.Value && x.Label == "" {
				require.NotEmpty(t, x.At, "%s: %s", name, x.Claim)
				require.GreaterOrEqual(t, x.At[0], full[0])
			}
		}
	}
	total := largePictures["large_packets_total"].Printed[0]
	require.Equal(t, "offpath.p3.pkts_measured", total.Claim)
	require.Contains(t, wholeSizes, int(1024*total.At[0]))
}

// TestClaimsAboutLatencyNeedAMargin checks that a latency that is 0.5% shorter is not judged to be shorter, and that
// the claim about SENDs stands on the WRITEs that it is compared with, too.
func TestClaimsAboutLatencyNeedAMargin(t *testing.T) {
	for _, shorter := range []float64{0.995, 0.9} {
		s, got := session(t, &Latency), latencyTable{}
		for _, x := range transports {
			for _, p := range []string{path0, path1, path2, s2h, h2s, both} {
				for _, n := range latencySizes {
					got[fmt.Sprint(p, x.name, n)] = 1
					if p == path2 {
						got[fmt.Sprint(p, x.name, n)] = shorter
					}
				}
			}
		}
		latencyClaims(s, got)
		for _, m := range s.Outcome.Measured {
			switch m.Claim {
			case "offpath.prior.read_soc_shorter":
				require.Equal(t, shorter < 0.99, m.Holds, "%g", shorter)
			case "offpath.p2.lat_read_vs_p1":
				require.Equal(t, shorter < 0.99, m.Broken == "", "%g", shorter)
			case "offpath.p1.lat_send":
				require.Contains(t, m.Runs, latencyRun(write, path1, smallSizes[0]))
			}
		}
	}
}

// TestLatencySideBySide checks that requests of paths side by side are counted in total and by path.
func TestLatencySideBySide(t *testing.T) {
	s := session(t, &Latency)
	mean, each, err := latencyBy(s, read, with3, 64)
	require.NoError(t, err)
	require.Len(t, each, 2)
	require.InEpsilon(t, mean.mean, (each[0].mean+each[1].mean)/2, 1e-9)
	require.Equal(t, []int{500, 250, 250}, []int{mean.requests, each[0].requests, each[1].requests})
	alone, none, err := latencyBy(s, read, path1, 64)
	require.NoError(t, err)
	require.Empty(t, none)
	require.InEpsilon(t, alone.mean, each[0].mean, 0.02, "they do not meet")
}

// TestSendsOverRCShareCores checks that SENDs of many clients over RC, each with a queue pair of its own, share the
// target's cores.
func TestSendsOverRCShareCores(t *testing.T) {
	s := session(t, &Rate)
	connected := transports[2]
	require.InEpsilon(t, 8e3/276, ask(t, s, connected, path2, 64, 4).mps, 0.02)
	two := ask(t, s, connected, both, 64, 2)
	require.InEpsilon(t, two.mps, two.share[path1]+two.share[path2], 1e-9)
}

// TestTwoRunsAreOne checks that a second run gives the same rates and ends at the same time.
func TestTwoRunsAreOne(t *testing.T) {
	for _, x := range []transport{read, datagram} {
		s := session(t, &Rate)
		a, b := ask(t, s, x, both, 64, 2), ask(t, s, x, both, 64, 2)
		require.Equal(t, a.Estimate, b.Estimate)
		require.Equal(t, a.share, b.share)
		require.Equal(t, a.bed.engine.Now(), b.bed.engine.Now())
	}
}

// TestRateIsBoundByThreadsThenContexts checks that the rate of one machine is bound by its threads, and that of many
// machines by the contexts of the NIC.
func TestRateIsBoundByThreadsThenContexts(t *testing.T) {
	s := session(t, &Rate)
	require.InEpsilon(t, 24e3/469, ask(t, s, write, path0, 64, 1).mps, 0.02)
	require.InEpsilon(t, 8e3/276, ask(t, s, read, s2h, 64, 0).mps, 0.02)
	far, near, bare := ask(t, s, read, path1, 64, 4).mps, ask(t, s, read, path2, 64, 4).mps,
		ask(t, s, read, path0, 64, 4).mps
	require.Greater(t, near, 1.08*far, "a READ of the Arm's memory holds its context for less long")
	require.Greater(t, bare, near)
}

func TestZeroBytesTakeContextsAlone(t *testing.T) {
	s := session(t, &Zero)
	one, two := ask(t, s, read, path1, 0, 6).mps, ask(t, s, read, both, 0, 6).mps
	require.InEpsilon(t, 176, one, 0.02)
	require.InEpsilon(t, 195, two, 0.02)
	free := session(t, &Zero, "nic.reserve")
	require.InEpsilon(t, 176, ask(t, free, read, both, 0, 6).mps, 0.02, "nothing is reserved")
	require.True(t, study.Above(two, one))
	require.False(t, study.Above(ask(t, free, read, both, 0, 6).mps, ask(t, free, read, path1, 0, 6).mps),
		"the check of the gain finds none without the reserve")
}

// TestLongReadsCollapse checks that READs lose bandwidth once they exceed the packet table, which then fills and drains
// in turn; READs of host memory do so at four times the size of READs of Arm memory.
func TestLongReadsCollapse(t *testing.T) {
	s := session(t, &Large)
	gbps := func(path string, op rnicspec.Opcode, mb int) float64 {
		x, b, err := longMessages(s, path, op, mb<<20/64, 64, true)
		require.NoError(t, err)
		require.Positive(t, x.pcie1)
		require.Equal(t, path == path2, x.pcie0 == 0, "path 2 does not cross PCIe0")
		require.GreaterOrEqual(t, b.ledger("x", b.moved).Of("PCIe1, switch to NIC", "payload")+b.ledger("x",
			b.moved).Of("PCIe1, NIC to switch", "payload"), 1.0)
		return x.e.Gbps()
	}
	require.Greater(t, gbps(path2, rnicspec.Read, 8), 190.0)
	require.Less(t, gbps(path2, rnicspec.Read, 12), 110.0)
	require.Greater(t, gbps(path1, rnicspec.Read, 32), 190.0)
	require.Greater(t, gbps(path2, rnicspec.Write, 24), 190.0, "two streams seldom meet in one bank")
	require.Less(t, gbps(path1, rnicspec.Read, 40), 115.0)
	require.Greater(t, gbps(path1, rnicspec.Write, 40), 190.0)
}

// TestBothDirections checks that the network carries both directions of path 1 at once, while path 3 gets no more of
// the shared channel in both directions than in one.
func TestBothDirections(t *testing.T) {
	s := session(t, &Large)
	gbps := func(path string, ops ...rnicspec.Opcode) float64 {
		g, _, err := inDuplex(s, path, ops)
		require.NoError(t, err)
		return g
	}
	require.InEpsilon(t, 195, gbps(path1, rnicspec.Read), 0.02)
	require.Greater(t, gbps(path1, rnicspec.Read, rnicspec.Write), 340.0)
	require.LessOrEqual(t, gbps(h2s, rnicspec.Read, rnicspec.Write), 1.05*gbps(h2s, rnicspec.Read))
}

func TestCollapse(t *testing.T) {
	rates := func(all ...float64) (list []longPoint) {
		for _, r := range all {
			list = append(list, longPoint{e: study.Estimate{Rate: r}})
		}
		return list
	}
	mb, does := collapse(rates(10, 10, 10, 7))
	require.Equal(t, largeSizes[2], mb)
	require.True(t, does)
	_, does = collapse(rates(10, 9, 10, 9))
	require.False(t, does)
}

// TestTogether checks that path 3 has the same share of the requests as of the threads, also with twice the requests in
// flight: requests from the network that wait for contexts do not fill the receive buffer.
func TestTogether(t *testing.T) {
	s := session(t, &Together)
	alone, both, err := beside(s, read, 64, h2s)
	require.NoError(t, err)
	more, err := besideMore(s, 64)
	require.NoError(t, err)
	threads, own := s.Input("machines")*s.Input("client.threads"), s.Input("host.threads")
	for _, o := range []outcome{both, more} {
		require.Less(t, o.share[path1], alone.mps)
		require.InEpsilon(t, own/(threads+own), o.share[h2s]/o.mps, 0.1)
	}
}

// TestWritesOfTwoTLPs checks that a WRITE that arrives as two TLPs occupies a bank of the Arm's DRAM once, and so has
// the rate of a WRITE of one TLP.
func TestWritesOfTwoTLPs(t *testing.T) {
	s := session(t, &Rate)
	require.InEpsilon(t, ask(t, s, write, path2, 64, 11).mps, ask(t, s, write, path2, 256, 11).mps, 0.03)
}

func TestDoorbellCounts(t *testing.T) {
	s := session(t, &Doorbell)
	require.NoError(t, countMMIO(s))
	require.True(t, s.Outcome.Measured[0].Holds, s.Outcome.Measured[0].Text)
}

// TestSoftwareOnCoresAgainstCharges checks that software on a simulated core takes the charged time, and at most 30%
// more for its loads and stores.
func TestSoftwareOnCoresAgainstCharges(t *testing.T) {
	s := session(t, &Cores)
	time := func(e study.Estimate, err error) float64 {
		require.NoError(t, err)
		return 1e-3 / e.Rate
	}
	for _, batch := range []int{1, 16} {
		charged, real := time(postCharged(s, s2h, batch)), time(corePosters[0].post(s, batch))
		require.Greater(t, real, charged)
		require.Less(t, real, 1.3*charged)
	}
	require.Greater(t, time(corePosters[2].post(s, 1)), time(corePosters[1].post(s, 1)), "the other socket is farther")
}

// TestPath1LosesBeyondPMinusN checks that path 1 loses bandwidth only when path 3 takes more than path 1 leaves of the
// channel, in either direction, and then gets the rest. Path 1 takes 20 B for 512 B of payload; path 3 has what the
// switch counted, and 88 B for each of its posts. Of S2H, that is from 256 Gbps. H2S shares the host's link with path
// 1, on which three DLLPs of 8 B go with eight completions, 8 × 532 B: 254.6 Gbps; waiting for DRAM may cost 3% of it.
func TestPath1LosesBeyondPMinusN(t *testing.T) {
	s := session(t, &Cap)
	const post, completion = 64 + 24, 1 + 20.0/512
	for i, channel := range []float64{256 * 532.0 / 535, 256} {
		x := study.NewSeries("x", "", "", "")
		for _, wire := range []float64{0, 40, 80} {
			require.NoError(t, cappedCases[i].point(s, x, read, wire))
		}
		alone, little, much := x.Points[0].Value, x.Points[3].Value, x.Points[6].Value
		require.InEpsilon(t, alone, little, 0.02)
		left := (channel - x.Points[8].Value - x.Points[7].Value*post/4096) / completion
		require.Less(t, left, 0.95*alone)
		require.LessOrEqual(t, much, 1.005*left)
		require.GreaterOrEqual(t, much, 0.97*left)
	}
}

// TestCapWithManyContexts checks that contexts and transmit buffer are what keeps path 3 H2S below its rate beside path
// 1: with many, both get what a scripted NIC gets (path/pminusn: 117 and 121 Gbps), half of the channel each.
func TestCapWithManyContexts(t *testing.T) {
	s := session(t, &Cap)
	rates := func(times int) (first, third float64) {
		c := cappedCases[0]
		c.changes = []change{func(_ *board.CardSpec, x *rnic.Spec) {
			x.Contexts.Endpoint, x.TxBytes = times*x.Contexts.Endpoint,
				times*x.TxBytes
		}}
		x := study.NewSeries("x", "", "", "")
		require.NoError(t, c.point(s, x, read, 130))
		return x.Points[0].Value, x.Points[1].Value
	}
	_, third := rates(1)
	require.Less(t, third, 80.0)
	first, third := rates(8)
	require.InEpsilon(t, 117, first, 0.03)
	require.InEpsilon(t, 121, third, 0.03)
}

// TestNarrowRequests checks that WRITEs to one bank of the Arm's DRAM take 44 ns each, and that with device allocation
// in the cache the range of addresses does not matter.
func TestNarrowRequests(t *testing.T) {
	s := session(t, &Skewed)
	rate := func(x transport, path string, lines int) float64 {
		o, err := narrow(s, x, path, lines, nil)
		require.NoError(t, err)
		return o.mps
	}
	require.InEpsilon(t, 1e3/44, rate(write, path2, 24), 0.1)
	require.Greater(t, rate(write, path2, 768), 3*rate(write, path2, 24))
	require.InEpsilon(t, rate(write, path1, 24), rate(write, path1, 768), 0.02)
}

// TestFraming checks that longer headers reduce the rate of long messages, which fill the network, and not that of
// short ones.
func TestFraming(t *testing.T) {
	s := session(t, &Framing)
	rate := func(size int, f rnic.Framing) float64 {
		o, err := framed(s, read, path1, size, f)
		require.NoError(t, err)
		return o.mps
	}
	require.InEpsilon(t, (1024+26.0)/(1024+82), rate(4096, rnic.RoCEv2)/rate(4096, rnic.InfiniBand), 0.01)
	require.InEpsilon(t, 1, rate(64, rnic.RoCEv2)/rate(64, rnic.InfiniBand), 0.01)
}

func TestHops(t *testing.T) {
	s := session(t, &Hops)
	require.NoError(t, hops(s))
	for _, m := range s.Outcome.Measured {
		require.True(t, m.Holds, m.Text)
	}
	a, err := copyTime(s, s2h, 64)
	require.NoError(t, err)
	b, err := copyTime(s, s2h, 16384)
	require.NoError(t, err)
	require.Greater(t, b, a)
}

// TestRefusedAccessFailsTheRun checks that a request that the NIC refuses fails the run, with an error that names the
// machine and the request.
func TestRefusedAccessFailsTheRun(t *testing.T) {
	s := session(t, &Rate)
	b, err := newBed(s, plain, 1)
	require.NoError(t, err)
	l := b.newLoad(s.NewMeter(1))
	from, to := b.ends(path0, 0)
	l.start(from, to, works(s, from, rnicspec.Write, 64)).wqe.RemoteKey = 77 // no region has this key
	require.ErrorContains(t, l.run(), "of Client[0]: WRITE ended with remote access error")
}
