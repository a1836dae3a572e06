package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/traffic"
	"nictwin/scenarios/traffic/capture"
)

// A NIC whose busy pin stays 1 after all work breaks the contract and gives a finding; any other error that ends the
// engine is no finding.
func TestBusyForEverIsAFinding(t *testing.T) {
	var stuck *StuckError
	err := atRest(fmt.Errorf("engine: %w", &rtlbridge.RestlessError{Device: "NIC", Cycle: 900, Patience: 500,
		Open: []string{"its signal busy is not 0"}}))
	require.ErrorAs(t, err, &stuck)
	require.ErrorContains(t, err, "its signal busy is not 0 [B8] [C3]")
	require.Equal(t, result.Hang, stuck.Finding().Failure)
	require.EqualValues(t, 400, stuck.Since(), "where the wait began")
	other := errors.New("other")
	require.Equal(t, other, atRest(other))
	require.NoError(t, atRest(nil))
}

func TestStatusHasNames(t *testing.T) {
	require.Equal(t, "STATUS 0x0", statusText(0))
	require.Equal(t, "STATUS 0x5 rx_busy reads_outstanding", statusText(5))
	require.Equal(t, "STATUS 0x82 tx_busy", statusText(0x82))
}

const manifest = "../../verilator/duts/nic/dut.yaml"

func shipped(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../captures/*/*.pcap")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// foreignCaptures names the environment variable with a folder of captures that are not shipped. If it is set, tests
// play them, too.
const foreignCaptures = "NICTWIN_TEST_CAPTURES"

// foreign returns the Ethernet captures in the folder that variable foreignCaptures gives; none if it is not set.
func foreign(t testing.TB) []string {
	t.Helper()
	dir := os.Getenv(foreignCaptures)
	if dir == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.pcap*"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "%s=%s holds no captures", foreignCaptures, dir)
	var ethernet []string
	for _, path := range files {
		_, err := capture.Read(path)
		var e *capture.Error
		if errors.As(err, &e) {
			require.ErrorContains(t, err, "only Ethernet", "%s", path)
			continue
		}
		require.NoError(t, err)
		ethernet = append(ethernet, path)
	}
	return ethernet
}

func options(nic string, captures []string) Options {
	o := DefaultOptions()
	o.NIC, o.DUT, o.Captures, o.Seed = nic, manifest, captures, 7
	return o
}

func start(t testing.TB, o Options) *Run {
	t.Helper()
	r, err := New(context.Background(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// framesOf returns the frames of a replay through one port.
func framesOf(t testing.TB, o Options) (frames [][]byte) {
	t.Helper()
	s, err := traffic.NewSupply(t.Context(), o.supply())
	require.NoError(t, err)
	stream := s.Playlists()[0]
	for range stream.Total() {
		f, err := stream.Next()
		require.NoError(t, err)
		frames = append(frames, f.Data)
	}
	require.NoError(t, s.Close())
	return frames
}

// play runs a replay and requires that it passes and accounts for every frame.
func play(t testing.TB, o Options) *Result {
	t.Helper()
	res, err := start(t, o).Play()
	require.NoError(t, err)
	require.Empty(t, res.Findings)
	require.True(t, res.Pass)
	require.NotZero(t, res.Checked)
	if res.Rx != nil {
		sum := uint64(res.Rx.Delivered)
		for _, d := range res.Rx.Drops {
			sum += d.Count
		}
		require.EqualValues(t, res.Rx.In, sum)
		require.Equal(t, res.Frames*o.Loop, res.Rx.In)
	}
	if res.Tx != nil {
		require.Equal(t, res.Frames*o.Loop, res.Tx.Out+res.Tx.Refused)
	}
	return res
}

// A gap between played frames, however long, is not taken for a stuck NIC.
func TestSlowestPace(t *testing.T) {
	o := options("model", shipped(t)[:1])
	o.Speed, o.Limit = "0.001", 40
	r := start(t, o)
	res, err := r.Play()
	require.NoError(t, err)
	require.True(t, res.Pass, "%+v", res.Findings)
	require.Greater(t, res.Sim, 2*r.limits.patience)
}

// Both NICs pass with all captures, in both directions, with and without stalls.
func TestCaptures(t *testing.T) {
	for _, nic := range []string{"model", "rtl"} {
		for _, stall := range []int{0, 30} {
			o := options(nic, append(shipped(t), foreign(t)...))
			o.Stall = stall
			res := play(t, o)
			t.Logf("%s, stall %d:\n%v", nic, stall, res)
		}
	}
}

// Each capture passes on its own: that exercises set-up and settling more often than one long run.
func TestEachCaptureAlone(t *testing.T) {
	for _, path := range append(shipped(t), foreign(t)...) {
		o := options("model", []string{path})
		o.Stall = 30
		play(t, o)
	}
}

// Both NICs insert the checksums and ICRCs that models/format/wire computes.
func TestRecompute(t *testing.T) {
	for _, nic := range []string{"model", "rtl"} {
		o := options(nic, append(shipped(t), foreign(t)...))
		o.Dir, o.Fix = "tx", Recompute{Checksums: true, ICRC: true}
		play(t, o)
	}
}

// The RTL's assertions hold during a replay, and enabling them does not change the digest.
func TestAssertions(t *testing.T) {
	o := options("rtl", shipped(t))
	o.Stall = 30
	want := play(t, o).Digest
	o.Variant = "debug"
	require.Equal(t, want, play(t, o).Digest)
}

// A run repeats with the same digest, cycles and simulated time, whatever the quantum and the mode of the bridge.
func TestDigest(t *testing.T) {
	type outcome struct {
		digest string
		cycles int64
		sim    simcore.Ps
	}
	digest := func(change func(*Options)) outcome {
		o := options("rtl", shipped(t)[:12])
		o.Stall = 20
		change(&o)
		res := play(t, o)
		require.Equal(t, simcore.Ps(res.Cycles)*simcore.DefaultPeriodPs, res.Sim)
		require.LessOrEqual(t, res.Cycles, res.DeviceCycles)
		return outcome{res.Digest, res.Cycles, res.Sim}
	}
	want := digest(func(*Options) {})
	for _, q := range []uint32{16, 256} {
		for _, serial := range []bool{false, true} {
			require.Equal(t, want, digest(func(o *Options) { o.Quantum, o.Serial = q, serial }),
				"quantum %d, serial %v", q, serial)
		}
	}
	require.NotEqual(t, want.digest, digest(func(o *Options) { o.Seed++ }).digest, "another seed, other stalls")
	model := options("model", shipped(t)[:12])
	model.Stall = 20
	require.Equal(t, play(t, model).Digest, play(t, model).Digest)
}

// The NIC's ICRC verdicts agree with models/format/wire and, for the mutated frames, with the sidecar file that says
// which mutation broke the ICRC.
func TestICRCVerdicts(t *testing.T) {
	raw, err := os.ReadFile("../captures/synthetic/fuzz_roce_v4.json")
	require.NoError(t, err)
	var sidecar []struct{ Icrc string }
	require.NoError(t, json.Unmarshal(raw, &sidecar))
	for _, nic := range []string{"model", "rtl"} {
		for _, path := range shipped(t) {
			o := options(nic, []string{path})
			o.Dir, o.Speed = "rx", "10" // slow enough that nothing is dropped for lack of buffer space
			r := start(t, o)
			seen := 0
			r.rx.verdicts = func(n int, f traffic.Frame, cqe nicspec.RxCqe) {
				seen++
				want := wire.VerifyFrameICRC(f.Data).Verdict
				if filepath.Base(path) == "fuzz_roce_v4.pcap" {
					want = map[string]wire.Verdict{"ok": wire.OK, "bad": wire.Bad}[sidecar[n].Icrc]
				}
				require.Equal(t, verdictOf(want), cqe.Icrc(), "%s on %s: frame %d", path, nic, n)
			}
			res, err := r.Play()
			require.NoError(t, err)
			require.True(t, res.Pass, "%v", res.Findings)
			short, frames := 0, framesOf(t, o)
			for _, f := range frames {
				if len(f) < nicspec.FrameMin {
					short++
				}
			}
			require.Equal(t, len(frames)-short, seen, "%s on %s: every frame that is long enough is delivered", path,
				nic)
		}
	}
}

// A failed read of a piece fails its entry and no other: the referee reports no mismatch, but the end-to-end check
// fails because the frames of such entries never arrive.
func TestReadFaults(t *testing.T) {
	const struck = 40
	for _, nic := range []string{"model", "rtl"} {
		for _, kind := range []inject.FaultKind{inject.FaultUR, inject.FaultPoison, inject.FaultByteCount,
			inject.FaultShort, inject.FaultLong, inject.FaultTwice} {
			o := options(nic, shipped(t))
			o.Dir, o.Loop, o.faults = "tx", 2, true // enough traffic to reuse every tag many times
			r := start(t, o)
			require.NoError(t, r.bed.Faults.Add(inject.Fault{
				Kind: kind, From: mem.Bus(nicspec.EndpointHost, 0), To: mem.Bus(nicspec.EndpointHost+1, 0), Skip: 20,
				Count: struck,
			}))
			res, err := r.Play()
			require.NoError(t, err)
			require.Equal(t, struck, r.bed.Faults.Hits())
			require.Empty(t, res.Report.List, "%s, %v", nic, kind)
			require.Equal(t, kind == inject.FaultTwice, res.Pass, "%s, %v: frames are missing: %v", nic, kind,
				res.Findings)
		}
	}
}

// A violation of the contract that only the driver notices ends the run, too, with a finding that names the rule.
func TestBreachEndsTheRun(t *testing.T) {
	r := start(t, options("model", shipped(t)[:1]))
	// An index out of range makes the NIC refuse a write that the driver expects to succeed.
	r.drv.WriteTable(nicspec.TableRxq, 1<<14, make([]byte, nicspec.RxqEntrySize))
	res, err := r.Play()
	var breach *boundary.ContractError
	require.ErrorAs(t, err, &breach)
	require.Equal(t, "G6", breach.Rule)
	require.False(t, res.Pass)
	require.Contains(t, strings.Join(result.Texts(res.Findings), "\n"),
		"the NIC breaks [G6]: table Rxq entry 16384: refused with status BadIndex")
}

// A completion that arrives twice is never taken for the answer to the next request with its tag, even if the second
// copy arrives while that request is being sent.
func TestCompletionsTwice(t *testing.T) {
	for _, nic := range []string{"model", "rtl"} {
		o := options(nic, shipped(t))
		// With these settings no second copy of a completion arrives after its tag was reused.
		o.Speed, o.Stall, o.Seed, o.faults = "50", 50, 5, true
		r := start(t, o)
		require.NoError(t, r.bed.Faults.Add(inject.Fault{
			Kind: inject.FaultTwice, From: mem.Bus(nicspec.EndpointHost, 0), To: mem.Bus(nicspec.EndpointHost+1, 0),
			Skip: 100, Count: 80,
		}))
		res, err := r.Play()
		require.NoError(t, err)
		require.Empty(t, res.Report.List, "%s", nic)
	}
}

func verdictOf(v wire.Verdict) nicspec.Verdict {
	switch v {
	case wire.OK:
		return nicspec.VerdictOk
	case wire.Bad:
		return nicspec.VerdictBad
	}
	return nicspec.VerdictNotChecked
}

func TestOptionsReportEverything(t *testing.T) {
	o := Options{NIC: "fpga", Dir: "up", Speed: "fast", Stall: 95, Limit: -1}
	err := o.Validate()
	for _, s := range []string{"no capture", `nic "fpga": want`, `dir "up": want`, `pace "fast": want`,
		"stall 95: want", "loop 0: want", "limit -1: want", "max_gap: want", "ports 0: want"} {
		require.ErrorContains(t, err, s)
	}
}

// Both NICs pass with two ports: file i is played on port i mod 2.
func TestTwoPorts(t *testing.T) {
	for _, nic := range []string{"model", "rtl"} {
		for _, stall := range []int{0, 30} {
			o := options(nic, shipped(t))
			o.Ports, o.Stall = 2, stall
			res := play(t, o)
			t.Logf("%s, stall %d:\n%v", nic, stall, res)
			require.Len(t, res.Rx.PerPort, 2)
			for p, x := range res.Rx.PerPort {
				require.Positive(t, x.Delivered, "port %d", p)
			}
		}
	}
}

// A build runs at any clock period: frames arrive at the rate of the stream, and times scale with the period.
func TestClock(t *testing.T) {
	for _, nic := range []string{"rtl", "model"} {
		for _, period := range []simcore.Ps{2500, 909} {
			o := options(nic, shipped(t)[:12])
			o.Dir, o.PeriodPs = "rx", period
			beats, first, last := int64(0), int64(-1), int64(0)
			o.Observe = func(x boundary.Crossing) {
				if x.Kind != boundary.FrameIn {
					return
				}
				if first < 0 {
					first = x.First
				} else {
					beats += int64(len(x.Frame.Data)) + 24 // 24: preamble, FCS and gap
				}
				last = x.First
			}
			res := play(t, o)
			require.Equal(t, simcore.Ps(res.Cycles)*period, res.Sim)
			require.InEpsilon(t, beats/64, last-first, 0.02, "%s at %v: cycles in which frames came, of 64 B each", nic,
				period)
		}
	}
}
