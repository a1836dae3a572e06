package shrink

import (
	"context"
	"errors"
	"os"
	"strconv"
	"time"

	"nictwin/models/nic/boundary"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/delta"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/replay"
	"nictwin/scenarios/traffic"
)

// maxTrials bounds the replays of a search.
const maxTrials = 2000

// Failure is a replay that failed.
type Failure struct {
	key   string
	first string // direction of the first finding
	tails [][]traffic.PortFrame
	res   *replay.Result
}

// Of returns the failure of a run, which must not be closed yet, since its captures are read again. It is nil for a run
// that passed or broke off, and for a failure without a key, by which the failure of a smaller input could be
// recognized.
func Of(run *replay.Run, res *replay.Result, err error) (*Failure, error) {
	f := &Failure{key: keyOf(res, err), first: dirRx, res: res}
	if f.key == "" {
		return nil, nil
	}
	if x := &res.Findings[0]; x.Domain == result.Tx || x.Frame != nil && x.Frame.Dir == dirTx {
		f.first = dirTx
	}
	if end, ok := run.UpTo(res.Findings[0].Frame); ok {
		tail, err := run.Tail(end)
		if err != nil {
			return nil, err
		}
		f.tails = append(f.tails, tail)
	}
	tail, err := run.Tail(res.Offered)
	f.tails = append(f.tails, tail)
	return f, err
}

// keyOf returns the key of a failure; empty: the run passed, or no finding has a key.
func keyOf(res *replay.Result, err error) string {
	if stuck, ok := errors.AsType[*replay.StuckError](err); ok {
		return "hang: " + stuck.Key()
	}
	if res == nil || len(res.Findings) == 0 {
		return ""
	}
	if err != nil && res.Mismatches == 0 && !errors.As(err, new(*boundary.ContractError)) {
		return ""
	}
	return res.Findings[0].Key()
}

// Shrink searches, for at most the time `limit`, for a smaller input that fails in the same way. It returns nil if it
// finds none. o are the options of the run.
func (f *Failure) Shrink(ctx context.Context, o replay.Options, limit time.Duration) (*result.Shrunk, error) {
	p, err := newPlayer(ctx, f, &o)
	if err != nil {
		return nil, err
	}
	defer p.close()
	begin := time.Now()
	budget, stop := context.WithTimeout(ctx, limit)
	defer stop()
	whole := input{dir: o.Dir, speed: o.Speed, stall: o.Stall, fix: o.Fix}
	var small input
	trials := 0
	found := delta.Patiently(ctx, f.patience(), int64(f.res.Patience), func(patience int64) (ok bool) {
		s := delta.New(budget, maxTrials)
		small, ok = reduce(s, f.tails, whole, f.first, func(in *input) bool {
			return p.fails(budget, in, simcore.Ps(patience))
		})
		trials += s.Trials()
		return ok
	}, func() bool {
		trials++
		return p.fails(ctx, &small, 0)
	})
	if !found || p.err != nil {
		return nil, p.err
	}
	files, err := encode(small.packets, o.Ports)
	if err != nil {
		return nil, err
	}
	return &result.Shrunk{
		Settings: settings(&o, &small), Original: sizeOf(f.res.Frames*o.Loop, o.Dir),
		Shrunk: sizeOf(len(small.packets), small.dir),
		Trials: trials, WallS: time.Since(begin).Seconds(), Inputs: files,
	}, nil
}

// patience returns how long trials wait for progress: several times the longest wait of the failed run that ended with
// progress.
func (f *Failure) patience() int64 {
	const times, cycles = 4, 8192
	return int64(max(times*f.res.Waited, cycles*f.res.Period))
}

func sizeOf(packets int, dir string) result.InputSize {
	s := result.InputSize{Packets: packets}
	if dir != dirRx {
		s.Entries = packets
	}
	return s
}

// settings returns the flags, with their values, by which the command that replays the reduced input differs from that
// of the failing run.
func settings(o *replay.Options, in *input) map[string]string {
	all := map[string]string{}
	set := func(differs bool, flag, value string) {
		if differs {
			all[flag] = value
		}
	}
	set(in.dir != o.Dir, "dir", in.dir)
	set(in.speed != o.Speed, "speed", in.speed)
	set(in.stall != o.Stall, "stall", strconv.Itoa(in.stall))
	set(in.fix != o.Fix, "recompute", "")
	set(o.Loop != 1, "loop", "1")
	set(o.Limit != 0, "limit", "0")
	return all
}

// player plays inputs from files in a folder of its own.
type player struct {
	o   replay.Options
	key string
	dir string
	err error // error of writing the files
}

func newPlayer(ctx context.Context, f *Failure, o *replay.Options) (*player, error) {
	p := &player{o: *o, key: f.key}
	p.o.Out, p.o.Files, p.o.Events, p.o.Record, p.o.Digest, p.o.RTLCoverage, p.o.Wave = "", nil, false, nil, false, "",
		nil
	p.o.Progress, p.o.Beat, p.o.Log, p.o.Frames, p.o.Loop, p.o.Limit = nil, nil, nil, nil, 1, 0
	var err error
	if o.NIC == device.RTL {
		if p.o.Built, err = built(ctx, o); err != nil {
			return nil, err
		}
	}
	p.dir, err = os.MkdirTemp("", "nictwin-shrink-*")
	return p, err
}

// built returns the build for the trials: that of the run, which is usually in the cache.
func built(ctx context.Context, o *replay.Options) (*build.Device, error) {
	if o.Built != nil {
		return o.Built, nil
	}
	return device.Build(ctx, o.DUT, o.Variant, device.Eth{Ports: o.Ports, Bits: o.EthBits}, o.Log)
}

func (p *player) close() { _ = os.RemoveAll(p.dir) } // a temporary folder that remains harms nobody

// fails plays an input and reports whether it fails as the whole one did. Patience 0 stands for that of the run.
func (p *player) fails(ctx context.Context, in *input, patience simcore.Ps) bool {
	o := p.o
	o.Dir, o.Speed, o.Stall, o.Fix, o.Patience = in.dir, in.speed, in.stall, in.fix, patience
	if o.Captures, p.err = write(p.dir, in.packets, o.Ports); p.err != nil {
		return false
	}
	run, err := replay.New(ctx, o)
	if err != nil {
		return false
	}
	res, err := run.Play()
	if run.Close() != nil || ctx.Err() != nil {
		return false
	}
	return keyOf(res, err) == p.key
}
