package shrink

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/delta"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run"
)

// maxTrials bounds the cases played in a search.
const maxTrials = 600

// Shrink searches, for at most the time `limit`, for a smaller scenario that fails as a case did. It returns nil if it
// finds none, and for a failure that could not be recognized in a smaller scenario. `o` holds the options with which
// the case was played.
func Shrink(ctx context.Context, p *run.Played, o run.Options, limit time.Duration) (*result.Shrunk, error) {
	t := &trial{o: plain(o), keys: keysOf(p), file: p.Case.File}
	if len(t.keys) == 0 || len(p.Case.Remotes(&o)) > 0 { // a device elsewhere serves one session
		return nil, nil
	}
	if strings.HasPrefix(p.Findings[0].Field, "expect.") {
		if !p.Case.Judged() || o.NIC != device.RTL {
			return nil, nil
		}
		t.guard = true
	}
	begin := time.Now()
	budget, stop := context.WithTimeout(ctx, limit)
	defer stop()
	whole := p.Case.Alone()
	small, trials := whole, 0
	found := delta.Patiently(ctx, patience(p), int64(p.Patience), func(patience int64) bool {
		s := delta.New(budget, maxTrials)
		small = reduce(s, whole, p.Message, func(x *run.Spec) bool { return t.fails(budget, x, simcore.Ps(patience)) })
		trials += s.Trials()
		return small.AllWorkloads().Messages() < whole.AllWorkloads().Messages() || trials > 0 && !same(&small, &whole)
	}, func() bool {
		trials++
		return t.fails(ctx, &small, 0)
	})
	if !found {
		return nil, nil
	}
	small.Description = describe(p.Case)
	text, err := small.YAML()
	if err != nil {
		return nil, err
	}
	return &result.Shrunk{
		Original: sizeOf(&whole), Shrunk: sizeOf(&small), Trials: trials, WallS: time.Since(begin).Seconds(),
		Inputs: []result.InputFile{{Name: result.ShrunkScenario, Role: result.RoleScenario, Data: text}},
	}, nil
}

// same reports whether two scenarios are written alike.
func same(a, b *run.Spec) bool {
	x, err1 := a.YAML()
	y, err2 := b.YAML()
	return err1 == nil && err2 == nil && slices.Equal(x, y)
}

func describe(c *run.Case) string {
	return fmt.Sprintf("shrunk from %s of %s", c.Name, filepath.Base(c.File))
}

func sizeOf(s *run.Spec) result.InputSize {
	return result.InputSize{Messages: s.AllWorkloads().Messages()}
}

// patience returns how long trials wait for progress: several times the longest wait of the failed run that succeeded
// (run.Played.Waited).
func patience(p *run.Played) int64 {
	const times, least = 4, 200 * simcore.Microsecond
	return int64(max(times*p.Waited, least))
}

// keysOf returns the keys of a failure: that of the first finding, and of the referees' first. It is empty if the case
// passed, or if the first finding has no key.
func keysOf(p *run.Played) (keys []string) {
	if p == nil || p.Pass() {
		return nil
	}
	first := &p.Findings[0]
	key := first.Key()
	if key == "" {
		return nil
	}
	if first.Domain == result.Application && first.Field == "progress" {
		key += ": " + first.Expected
	}
	keys = []string{key}
	if i := slices.IndexFunc(p.Findings, func(f result.Finding) bool { return f.Rule != "" }); i > 0 {
		keys = append(keys, p.Findings[i].Key())
	}
	return keys
}

// trial plays scenarios.
type trial struct {
	o     run.Options
	n     int // scenarios played so far
	keys  []string
	file  string // file of the case: relative paths in scenarios begin at its folder
	guard bool   // a shrunk scenario must pass if the Go NIC is the device
}

// plain returns the options without artifacts and progress. Heartbeats go on.
func plain(o run.Options) run.Options {
	o.Dir, o.Wave, o.Progress, o.Log, o.Seed = nil, nil, nil, nil, 0
	return o
}

// fails plays a scenario and reports whether it fails as the case did. Patience 0 stands for that of the case.
func (t *trial) fails(ctx context.Context, s *run.Spec, patience simcore.Ps) bool {
	text, err := s.YAML()
	if err != nil {
		return false
	}
	list, err := run.Parse(t.file, text)
	if err != nil || len(list) != 1 {
		return false
	}
	o := t.o
	o.Patience = patience
	t.n++
	o.During = fmt.Sprintf("shrinking, trial %d: ", t.n)
	p, err := list[0].Play(ctx, o)
	if ctx.Err() != nil || err != nil && (p == nil || p.Pass()) || !slices.Equal(keysOf(p), t.keys) {
		return false
	}
	if !t.guard {
		return true
	}
	o.NIC, o.DUT, o.Variant = device.Model, "", ""
	p, err = list[0].Play(ctx, o)
	return err == nil && p.Pass()
}
