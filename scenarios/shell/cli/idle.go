package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nictwin/scenarios/bed/device"
)

// Idle maps each flag that has no effect to an error text, which names the setting to blame and the one that the flag
// needs.
type Idle map[string]string

// unless adds flags as idle if ok is false. `with` is the setting that makes them idle, `need` the setting that
// they require.
func (i Idle) unless(ok bool, with, need string, flags ...string) {
	for _, f := range flags {
		if !ok && i[f] == "" {
			i[f] = fmt.Sprintf("--%s: has no effect with %s: want %s, or leave it out", f, with, need)
		}
	}
}

// Refuse returns an error for each idle flag that the user gave: a user expects a flag to have an effect.
func (i Idle) Refuse(given func(flag string) bool) error {
	var errs []error
	flags := make([]string, 0, len(i))
	for f := range i {
		flags = append(flags, f)
	}
	slices.Sort(flags)
	for _, f := range flags {
		if given(f) {
			errs = append(errs, errors.New(i[f]))
		}
	}
	return errors.Join(errs...)
}

// Idle returns the replay flags that have no effect with the other settings.
func (r *Replay) Idle() Idle {
	i := Idle{}
	i.unless(r.NIC != device.Model, "--nic model", "--nic rtl", "dut", "variant", "wave", "with-rtl", "quantum",
		"serial", "idle-cycles", "token-file")
	i.unless(r.Connect == "", "--connect", "a device that is built here", "dut", "variant", "wave", "with-rtl")
	i.unless(r.Connect != "", "a device that is built here", "--connect", "token-file")
	i.unless(r.RTLCoverage == "", "--rtl-coverage, which has a build of its own", "no --rtl-coverage", "variant",
		"wave")
	i.unless(r.Board == "", "--board", "no --board", "ports", "eth-bits")
	i.unless(r.Dir != "tx", "--dir tx", "--dir rx or both", "speed", "max-gap")
	i.unless(r.Dir != "rx", "--dir rx", "--dir tx or both", "recompute")
	i.unless(r.Speed == "capture", "--speed "+r.Speed, "--speed capture", "max-gap")
	i.unless(!r.NoArtifacts, "--no-artifacts", "artifacts", "out", "overwrite", "report", "artifact-mb", "shrink-s",
		"with-rtl")
	i.unless(r.Connect == "", "--connect", "a device that is built here", "shrink-s")
	return i
}

// Idle returns the fuzz flags that have no effect with the other settings.
func (f *Fuzz) Idle() Idle {
	i := Idle{}
	i.unless(f.NIC != device.Model, "--nic model", "--nic rtl", "dut", "variant", "wave", "with-rtl")
	i.unless(f.RTLCoverage == "", "--rtl-coverage, which has a build of its own", "no --rtl-coverage", "variant",
		"wave")
	i.unless(f.ProgramFile == "", "--program, which has all of that in its file", "programs of a seed",
		"seed", "runs", "time", "skip", "shard", "ports", "eth-bits", "build", "board", "stall", "overlap", "failures",
		"jobs")
	i.unless(!f.NoArtifacts, "--no-artifacts", "artifacts", "out", "overwrite", "report", "with-rtl")
	return i
}

// Idle returns the bench flags that have no effect with the other settings.
func (b *Bench) Idle() Idle {
	i := Idle{}
	if b.Claims {
		i.unless(false, "--claims", "figures", "repeats", "percent", "seed", "seeds", "leave-one-out", "against", "dut",
			"overwrite")
		return i
	}
	i.unless(b.NeedsDUT(), strings.Join(b.Names, " "), "figures of the NIC", "dut")
	i.unless(b.HasStart(), strings.Join(b.Names, " "), "the figure cli/start", "against")
	i.unless(b.HasExperiments(), strings.Join(b.Names, " "), "experiments", "seeds")
	return i
}

// withoutOut returns the flags about artifacts that have no effect without a folder for them.
func withoutOut(out string) Idle {
	i := Idle{}
	i.unless(out != "", "no --out", "--out", "overwrite", "report")
	return i
}

// Idle returns the flags of command `blocks` that have no effect with the other settings.
func (b *Blocks) Idle() Idle { return withoutOut(b.Out) }

// Idle returns the flags of command `pair` that have no effect with the other settings.
func (p *Pair) Idle() Idle {
	i := withoutOut(p.Out)
	i.unless(p.Processes > 1, "--processes 1", "--processes 2", "wait")
	return i
}

// Once returns an error for each word that occurs twice in a list: as with idle flags, the user expects an effect.
func Once(what string, list []string) error {
	var errs []error
	seen := map[string]int{}
	for _, w := range list {
		if seen[w]++; seen[w] == 2 {
			errs = append(errs, fmt.Errorf("%s %s is given twice: want it once", what, w))
		}
	}
	return errors.Join(errs...)
}
