package ceio

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run"
	"nictwin/scenarios/run/stats"
)

func session(t *testing.T, x *study.Experiment, percent int) *study.Session {
	t.Helper()
	s, err := study.NewSession(t.Context(), x, percent)
	require.NoError(t, err)
	return s
}

// Every scene is a scenario file, with the inputs of its experiment.
func TestScenesAreScenarios(t *testing.T) {
	s, d := session(t, &Mixes, 100), session(t, &Dynamic, 50)
	scenes := []*point.Scene{singleScene(session(t, &Single, 1), false, 65_536),
		limitScene(session(t, &Limits, 1), withCEIO), controllerScene(session(t, &Controllers, 1), 2000)}
	for _, x := range allSystems {
		scenes = append(scenes, changing(d).scene(d, x), growing(d).scene(d, x))
		for _, kind := range staticKinds {
			scenes = append(scenes, staticScene(session(t, &Static, 1), x, kind, 1024, 64))
		}
	}
	for _, m := range allMixes {
		for _, x := range mixSystems {
			scenes = append(scenes, mixScene(s, x, m))
		}
	}
	for _, c := range scenes {
		_, err := run.Parse("f.yaml", []byte(c.Text(s)))
		require.NoError(t, err, c.Name)
	}
	one := session(t, &Single, 1)
	list, err := run.Parse("f.yaml", []byte(singleScene(one, false, 65_536).Text(one)))
	require.NoError(t, err)
	require.Equal(t, 1024, list[0].Spec.Stacks[0].CEIO.Landing)
	require.Equal(t, 8, list[0].Spec.Workloads[0].Depth, "messages of 47 packets in half of the landing buffers")
	list, err = run.Parse("f.yaml", []byte(staticScene(session(t, &Static, 1), baseline, involved, 512, 64).Text(s)))
	require.NoError(t, err)
	require.Equal(t, 64, *list[0].Spec.Workloads[0].Answer)
	list, err = run.Parse("f.yaml", []byte(mixScene(s, without, allMixes[0]).Text(s)))
	require.NoError(t, err)
	x := list[0].Spec.Stacks[0]
	require.Equal(t, []int{3000, 1024, 192}, []int{x.CEIO.Credits, x.CEIO.Landing, x.CEIO.SlowBytes})
	require.False(t, x.CEIO.Reallocate || x.CEIO.Async)
	require.EqualValues(t, cycles, x.Host.ReceiveCycles)
	require.Equal(t, 256, list[0].Spec.Workloads[0].Chunks.File, "16 MB")
	require.EqualValues(t, lineCycles, list[0].Spec.Workloads[0].Chunks.LineCycles)
	require.False(t, x.CEIO.SoftwareRing)
	require.Equal(t, 1024, x.CEIO.SlowSlots)
	list, err = run.Parse("f.yaml", []byte(growing(d).scene(d, withCEIO).Text(d)))
	require.NoError(t, err)
	m := list[0].Spec.Measure
	require.EqualValues(t, 6*milli, m.WarmUp+m.Window, "three phases of half the usual length")
}

// Clients are like one machine, whose frames wait for the cable unmarked, and whose load fits the baseline's rings.
func TestTestbed(t *testing.T) {
	for _, x := range []struct {
		experiment *study.Experiment
		scene      func(s *study.Session) *point.Scene
		buffers    int // of a ring that requests under way may not need
	}{
		{&Mixes, func(s *study.Session) *point.Scene { return mixScene(s, baseline, allMixes[0]) }, repost},
		{&Static, func(s *study.Session) *point.Scene { return staticScene(s, baseline, involved, 512, 64) },
			repost + transmit},
	} {
		c := scenesOf(t, session(t, x.experiment, 1), x.scene(session(t, x.experiment, 1)))[0]
		sw, host := c.Board.Network.Switch, c.Stacks[0].Host
		require.Zero(t, sw.Classes[0].ECN.KmaxBytes)
		require.Equal(t, []int{repost, transmit}, []int{host.Repost, 1 << host.LogTransmit})
		list := c.AllWorkloads()
		underWay := list[len(list)-1].Depth // chunks are in front of the store
		require.Equal(t, 1<<host.LogReceive-x.buffers, underWay)
		const flows, frame = 14, 1518
		require.Greater(t, sw.BufferBytes/2, flows*underWay*frame, "half of the buffer for one port")
	}
}

// What is expected is the rate of ShRing's core with one flow, for each CPU-involved flow.
func TestExpected(t *testing.T) {
	s := session(t, &Dynamic, 1)
	list, err := run.Parse("f.yaml", []byte(coreScene(s).Text(s)))
	require.NoError(t, err)
	require.Equal(t, "shring", string(list[0].Spec.Stacks[0].Kind))
	require.Len(t, list[0].Spec.Workloads, 1)
	require.Len(t, list[0].Spec.Workloads[0].From, 1)
	c := changes{phases: growing(s), core: &point.Played{Rate: stats.Rate{PerSecond: 30e6}}}
	require.InDelta(t, 15*12, c.expected(2).Value, 1e-9)
}

// A claim about the largest ratio of all phases stands on the runs that decide it.
func TestLargestRatio(t *testing.T) {
	s := session(t, &Dynamic, 1)
	c := changes{phases: growing(s), rates: map[system][]study.Rate{}}
	for x, rate := range map[system]float64{withCEIO: 86, hostCC: 40, shRing: 63} {
		for n := range c.involved {
			r := study.Run{Name: fmt.Sprintf("%s %d", x, n), Relative: 0.005, Converged: true}
			if x == shRing && n == 0 {
				r.Relative, r.Converged = 0.08, false
			}
			s.Outcome.Runs = append(s.Outcome.Runs, r)
			c.rates[x] = append(c.rates[x], study.Rate{Value: rate + 10*float64(n), Run: r.Name})
		}
	}
	most(s, "ceio.e2e.burst", "", c.over(withCEIO, hostCC, shRing))
	require.InDelta(t, 2.15, s.Outcome.Measured[0].Values[0], 1e-9)
	require.Equal(t, []string{"CEIO 0", "HostCC 0"}, s.Outcome.Measured[0].Runs)

	c.rates[shRing][0].Value = 50 // 1.72, or more than 1.86 if it is 8% less
	most(s, "ceio.abs.tput", "", c.over(withCEIO, hostCC, shRing))
	require.NotContains(t, s.Outcome.Measured[1].Runs, "ShRing 0")
	c.rates[shRing][0].Value = 43 // 2 to 2.19
	most(s, "ceio.abs.tput", "", c.over(withCEIO, hostCC, shRing))
	require.Contains(t, s.Outcome.Measured[2].Runs, "ShRing 0")
}

// Full runs have no more messages than a run may have.
func TestFullPhasesAreScenarios(t *testing.T) {
	s := session(t, &Dynamic, 100)
	for _, p := range []*phases{changing(s), growing(s)} {
		for _, x := range allSystems {
			c := p.scene(s, x)
			_, err := run.Parse("f.yaml", []byte(c.Text(s)))
			require.NoError(t, err, c.Name)
		}
	}
}

// The rate of a phase is that of its CPU-involved flows, without those that ended before it.
func TestFlowsOfPhases(t *testing.T) {
	s := session(t, &Dynamic, 50)
	for _, k := range []struct {
		p                        *phases
		x                        system
		length, settling, longer simcore.Ps
	}{{changing(s), baseline, 4 * milli, milli, 16 * milli}, {growing(s), baseline, 2 * milli, milli / 2, 0},
		{changing(s), withCEIO, 2 * milli, milli / 2, 0}, {growing(s), hostCC, 5 * milli, 2 * milli, 0},
		{changing(s), hostCC, 5 * milli, 2 * milli, 10 * milli}} {
		p, x, settling := k.p.of(s, k.x), k.x, k.settling
		require.Equal(t, k.length, p.length)
		list, err := run.Parse("f.yaml", []byte(p.scene(s, x).Text(s)))
		require.NoError(t, err)
		require.EqualValues(t, p.length*simcore.Ps(len(p.involved))+k.longer, list[0].Spec.Measure.WarmUp+
			list[0].Spec.Measure.Window)
		for phase := range p.involved {
			from, to := p.judged(phase)
			require.Equal(t, settling, from-p.length*simcore.Ps(phase), "windows open meanwhile")
			if begin := p.length * simcore.Ps(phase+1); phase < len(p.involved)-1 {
				require.Equal(t, begin, to)
			} else {
				require.Equal(t, begin+k.longer, to, "the last phase")
			}
			flows := 0
			for i := range list[0].Spec.Workloads {
				w := &list[0].Spec.Workloads[i]
				if begin := simcore.Ps(w.Begin); begin <= p.length*simcore.Ps(phase) {
					where := fmt.Sprintf("%s: flow %d", w.Name, i)
					if p.involves(phase, where, "Client to Server") {
						flows += len(w.From)
					}
				}
			}
			require.Equal(t, p.involved[phase], flows, "%s, phase %d", p.name, phase)
		}
	}
}

// Requests have a share of the rate of all messages, by their length and that of their answers.
func TestRequests(t *testing.T) {
	p := &point.Played{Rate: stats.Rate{Gbps: 90, Half: new(0.9)}}
	r := requests(p, 512, 64)
	require.InDelta(t, 80, r.Gbps, 1e-9)
	require.InDelta(t, 0.8, *r.Half, 1e-9)
	require.InDelta(t, 45, half(p).Gbps, 1e-9)
	require.InDelta(t, 90, p.Rate.Gbps, 0)
	s := settledStatic()
	require.Contains(t, s["ceio.t2.ceio.erpc_dpdk.p99"], "64 B")
	require.NotContains(t, s["ceio.t2.ceio.linefs.p99"], "64 B")
}

// Claims that say more than a number pass only if that is so, too.
func TestWhatClaimsSay(t *testing.T) {
	gap, broken := slowGap(map[int]float64{512: 0.5, 1024: 0.6, 4096: 0.9, 16_384: 0.8, 65_536: 0.9})
	require.InDelta(t, 0.2, gap, 1e-9)
	require.Empty(t, broken)
	_, broken = slowGap(map[int]float64{512: 0.85, 65_536: 0.8})
	require.Equal(t, "a gap of 0.15 below 4 KB", broken)

	require.Empty(t, disorder([]float64{4, 3, 2, 1}))
	require.Equal(t, "HostCC has 3 us, ShRing 3 us", disorder([]float64{4, 3, 3, 1}))

	require.True(t, fewer(0.01, 0.2))
	require.True(t, fewer(0, 0.2))
	require.False(t, fewer(0.01, 0.19))
	require.False(t, fewer(0, 0), "nothing misses")
}

// The half width of a level is that of the mean of as many batches of neighbours. It is wider if they correlate.
func TestLevels(t *testing.T) {
	const mean = 2.093 * 1.026 / 4.472 // Student's quantile, deviation and root of 20 batches of 9 and 11
	l := levelOf(slices.Repeat([]float64{9, 11}, 10))
	require.InDelta(t, 10, l.mean, 1e-9)
	require.InDelta(t, mean, l.half, 1e-3)
	var slow []float64 // goes up and down once in four values
	for range 20 {
		slow = append(slow, 9, 9, 11, 11)
	}
	require.InDelta(t, mean, levelOf(slow[:40]).half, 1e-3)
	require.Zero(t, levelOf(slow).half)
	drift := slices.Concat(slices.Repeat([]float64{9}, 10), slices.Repeat([]float64{11}, 10))
	require.Greater(t, levelOf(drift).half, 4*mean)
	few := levelOf([]float64{1, 1, 1})
	require.EqualValues(t, 1, few.mean)
	require.Greater(t, few.half, 1e300)
}

// Experiments measure all of their claims at a hundredth of the usual windows, and the same again: the shortest
// ones, and with NICTWIN_LONG (make test-all) the others, too.
func TestExperiments(t *testing.T) {
	all := []*study.Experiment{&Single, &Limits, &Controllers, &Unloaded, &Perftest}
	if os.Getenv("NICTWIN_LONG") != "" {
		all = append(all, &Mixes, &Static, &Dynamic, &Verbs, &Scale, &Release, &Index, &Jumbo)
	}
	for _, x := range all {
		var first *study.Outcome
		for range 2 {
			s := session(t, x, 1)
			require.NoError(t, x.Run(s), x.Name)
			var claims []string
			for _, m := range s.Outcome.Measured {
				claims = append(claims, m.Claim)
			}
			require.ElementsMatch(t, x.Claims, claims)
			for name := range x.Pictures {
				named := func(y study.Series) bool { return y.Name == name }
				require.True(t, slices.ContainsFunc(s.Outcome.Series, named), name)
			}
			if first == nil {
				first = &s.Outcome
			}
			require.Equal(t, first.Series, s.Outcome.Series)
		}
	}
}
