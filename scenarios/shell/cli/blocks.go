package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"nictwin/rtlbridge/build"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/suite/blocks"
)

// Blocks holds the settings of the blocks command.
type Blocks struct {
	Common
	blocks.Options
	Out         string   // folder for artifacts; empty: none
	Names       []string // names of blocks; none: all blocks
	VariantName string   // parsed into Variant
}

// NewBlocks returns the default settings.
func NewBlocks() *Blocks {
	b := &Blocks{Options: blocks.DefaultOptions()}
	b.Seed, b.VariantName = DefaultSeed, string(b.Variant)
	return b
}

// BlocksEnded is the outcome of Blocks.Run.
type BlocksEnded struct {
	Ended
	Reports []blocks.Report // one per block; nil: the run did not begin
}

// Run plays the blocks and compares them. Canceling the context interrupts it.
func (b *Blocks) Run(ctx context.Context) *BlocksEnded {
	ctx, stop := b.start(ctx)
	defer stop()
	e := &BlocksEnded{Ended: Ended{Object: result.Object{Command: "blocks", Seed: b.Seed}}}
	begin := time.Now()
	e.do(ctx, &b.Common, work{
		prepare: b.prepare,
		play: func() (err error) {
			e.Reports, err = blocks.Play(ctx, b.Options)
			return cmp.Or(err, idleBlocks(e.Reports))
		},
		differs: func(error) bool {
			return slices.ContainsFunc(e.Reports, func(r blocks.Report) bool { return r.Mismatch != nil })
		},
		describe: func(o *result.Object) {
			b.describe(o, e.Reports)
			if e.Outcome != result.Usage && b.Stall >= 0 {
				o.Stall = new(b.Stall)
			}
			o.WallS = time.Since(begin).Seconds()
		},
	})
	return e
}

// idleBlocks returns an error about blocks for which nothing was compared, unless a mismatch explains it.
func idleBlocks(list []blocks.Report) error {
	var errs []error
	for i := range list {
		if list[i].Mismatch != nil {
			return nil
		}
		if list[i].Compared == 0 {
			errs = append(errs, fmt.Errorf("block %s: no result was due in %d requests: raise --transactions or --runs",
				list[i].Block.Name, list[i].Requests))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return &NothingError{errors.Join(errs...)}
}

// prepare completes the options. Its error names every wrong setting.
func (b *Blocks) prepare() (string, error) {
	b.Variant = build.Variant(b.VariantName)
	h, errHome := b.find()
	list, errNames := blocks.Find(b.Names)
	var errLink error
	b.Link, errLink = b.link()
	if err := errors.Join(errNames, errLink, Once("block", b.Names), b.Validate(), errHome); err != nil {
		return "", &UsageError{err}
	}
	b.Blocks, b.Manifest = list, h.Block
	return b.Out, nil
}

// describe copies the reports into the result object.
func (b *Blocks) describe(o *result.Object, list []blocks.Report) {
	digest, builds := fnv.New64a(), sha256.New()
	for i := range list {
		r := &list[i]
		x := result.BlockPlayed{
			Name: r.Block.Name, RTL: r.Block.RTL, Go: r.Block.Go, Build: r.Build,
			Runs: r.Runs, Requests: r.Requests, Compared: r.Compared, Cycles: r.Cycles,
		}
		for _, d := range r.Digests {
			_, _ = fmt.Fprintf(digest, "%x,", d) // never fails
		}
		_, _ = fmt.Fprintf(builds, "%s,", r.Build)
		o.Checked += uint64(r.Compared)
		o.Cycles += int64(r.Cycles)
		o.SimPs += int64(r.SimPs)
		if m := r.Mismatch; m != nil {
			o.Mismatches++
			o.Findings = append(o.Findings, b.finding(m))
			x.Mismatch = &result.BlockMismatch{
				Transaction: m.Transaction, Op: m.Op, Request: m.Request, Field: m.Field,
				Expected: result.Value(m.Expected), Got: result.Value(m.Got), Cycle: m.Cycle, Seed: m.Seed,
				Stall: m.Stall,
			}
			if o.Reproduce == "" {
				o.Reproduce = b.again(m)
			}
		}
		o.Blocks = append(o.Blocks, x)
	}
	if len(list) > 0 {
		o.Digest, o.Build = hex.EncodeToString(digest.Sum(nil)), hex.EncodeToString(builds.Sum(nil))
	}
}

// finding converts a mismatch of a block to a finding of the result object.
func (b *Blocks) finding(m *blocks.Mismatch) result.Finding {
	stream, _ := strings.CutPrefix(m.Field, "stream ")
	if stream == m.Field {
		stream = "" // a field of a result, not a stream
	}
	return result.Finding{
		Domain: result.Block, Stream: stream, Field: m.Field, Expected: result.Value(m.Expected),
		Got: result.Value(m.Got), Cycle: new(int64(m.Cycle)),
		Block: &result.BlockInput{
			Name: m.Block.Name, Transaction: m.Transaction, Op: m.Op, Request: m.Request, Seed: m.Seed, Stall: m.Stall,
		},
		Files: []string{m.Block.Go, "verilator/rtl/" + m.Block.RTL}, Text: m.Error(), Command: b.again(m),
	}
}

// again returns the command line that repeats the failed run.
func (b *Blocks) again(m *blocks.Mismatch) string {
	words := []string{b.Self, "blocks", m.Block.Name, "--seed", strconv.FormatUint(m.Seed, 10), "--runs", "1"}
	def := NewBlocks()
	for _, f := range []struct{ flag, value, usual string }{
		{"--stall", strconv.Itoa(b.Stall), strconv.Itoa(def.Stall)},
		{"--transactions", strconv.Itoa(b.Transactions), strconv.Itoa(def.Transactions)},
		{"--variant", b.VariantName, def.VariantName}, {"--link", b.LinkText, ""}, {"--home", b.Home, ""},
	} {
		if f.value != f.usual {
			words = append(words, f.flag, f.value)
		}
	}
	return Quote(words)
}
