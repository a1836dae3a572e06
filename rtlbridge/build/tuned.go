package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"nictwin/rtlbridge/build/toolchain"
)

// A tuned build is a speed build whose compiler knows which branches are taken, from counters in a first build
// that played a recording. It behaves identically, cycle for cycle; only code placement and inlining differ.

// train returns a profile of the hot units: it plays the options' recording on a build with counters.
func (b *builder) train(hot, rest []unit) (string, error) {
	tools, err := b.tools.Tuning()
	if err != nil {
		return "", err
	}
	counted := make([]unit, len(hot))
	for i, u := range hot {
		counted[i] = unit{src: u.src, obj: u.obj + ".counted",
			flags: append([]string{"-fprofile-generate"}, u.flags...)}
	}
	if err := b.compileAll(append(counted, rest...)); err != nil {
		return "", err
	}
	program, raw := filepath.Join(b.work, "counted"), filepath.Join(b.work, "counted.raw")
	if err := b.linkTo(program, append(counted, rest...), "-fprofile-generate"); err != nil {
		return "", err
	}
	b.logf("training with %s", filepath.Base(b.o.Training))
	p, err := play(b.o.context(), b.m.Name, program, b.o.Training, []string{"LLVM_PROFILE_FILE=" + raw})
	if err != nil {
		return "", fmt.Errorf("training: %w", err)
	}
	if p.Cycles == 0 {
		return "", fmt.Errorf("training: %s holds no cycle", b.o.Training)
	}
	profile := filepath.Join(b.objDir(), "profile")
	if _, err := toolchain.RunTool("merging counters", b.work, tools.Merge, "merge", "-o", profile, raw); err != nil {
		return "", err
	}
	return profile, errors.Join(os.Remove(program), os.Remove(raw))
}

// tune compiles the hot units with their profile.
func (b *builder) tune(hot, rest []unit) error {
	profile, err := b.train(hot, rest)
	if err != nil {
		return err
	}
	for i := range hot {
		hot[i].flags = append([]string{"-fprofile-use=" + profile}, hot[i].flags...)
	}
	b.logf("compiling by its profile")
	return nil
}

// ErrNotTuned reports that the cache has no tuned build and no recording to make one with.
var ErrNotTuned = errors.New("no tuned build of this device")
