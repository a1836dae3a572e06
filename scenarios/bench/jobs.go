package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/run"
	"nictwin/scenarios/shell/inorder"
	"nictwin/stack/apps"
)

const jobsGoal = 1.7

// jobsKinds are the workload kinds of the measured cases, which the scenario library uses as well.
var jobsKinds = []apps.Kind{apps.Send, apps.Write, apps.Read, apps.Echo}

const jobsLoad = "kind: %s, queue_pairs: 2, depth: 4, sizes: [64, 3000], count: 20"

// batch is a list of cases to run on both NICs.
type batch struct {
	cases []*run.Case
	o     run.Options
}

// run returns the i-th run of the batch: each case is run on the model and on RTL.
func (b *batch) run(i int) (*run.Case, run.Options) {
	o := b.o
	o.NIC = [...]string{device.Model, device.RTL}[i%2]
	return b.cases[i/2], o
}

// batchTime is the cost of playing a batch.
type batchTime struct {
	wall    time.Duration
	cpu     time.Duration // processor time of this program and of its devices
	others  float64       // share of the processors that other programs used meanwhile
	results string        // digests of the cases, in the order of the batch
}

// jobsSpeed compares the wall time of running cases one at a time with that of running them two at a time, in alternate
// turns, and takes the least time of each.
func jobsSpeed(s *session) ([]Result, error) {
	b := &batch{o: run.Options{DUT: s.DUT, Seed: s.Seed, Log: s.Log, Builds: new(device.Builds)}}
	for _, kind := range jobsKinds[:min(len(jobsKinds), max(1, len(jobsKinds)*s.Percent/100))] {
		list, err := run.Parse("bench", []byte(stackCase("{kind: model}", 2, "", fmt.Sprintf(jobsLoad, kind))))
		if err != nil {
			return nil, err
		}
		b.cases = append(b.cases, list...)
	}
	if _, err := b.play(s.ctx, 1); err != nil { // this first play builds the device
		return nil, err
	}
	var least [2]*batchTime
	var others []float64
	for range s.Repeats {
		for i := range least {
			t, err := b.play(s.ctx, i+1)
			if err != nil {
				return nil, err
			}
			if least[0] != nil && t.results != least[0].results {
				return nil, differs(fmt.Sprintf("cases, %d at a time", i+1), t.results, least[0].results)
			}
			others = append(others, t.others)
			if least[i] == nil || t.wall < least[i].wall {
				least[i] = t
			}
		}
	}
	one, two := least[0], least[1]
	return []Result{figure("run/jobs_2", ratio(one.wall.Seconds(), two.wall.Seconds()), "ratio", jobsGoal,
		"%d cases over FlexiNS on the Go NIC and on the RTL, one at a time (%.1f s, which keeps %.2f processors "+
			"busy) and two (%.1f s, %.2f busy), on %d processors; least of %d turns each",
		len(b.cases), one.wall.Seconds(), one.busy(), two.wall.Seconds(), two.busy(), runtime.NumCPU(),
		s.Repeats).disturbed(median(others))}, nil
}

// busy returns the average number of busy processors.
func (t *batchTime) busy() float64 { return ratio(t.cpu.Seconds(), t.wall.Seconds()) }

// play runs all cases, with the given number at a time.
func (b *batch) play(ctx context.Context, jobs int) (*batchTime, error) {
	type played struct {
		*run.Played
		err error
	}
	var failed error
	var results strings.Builder
	begin, cpu, all := time.Now(), cpuTime()+childTime(), machineTime()
	list := inorder.List[played]{
		Count: 2 * len(b.cases), Most: jobs,
		Cost: func(i int) int64 {
			c, o := b.run(i)
			return c.Cost(&o)
		},
		Do: func(ctx context.Context, i int) played {
			c, o := b.run(i)
			p, err := c.Play(ctx, o)
			if err == nil && !p.Pass() {
				err = &MismatchError{c.Name, p.Findings}
			}
			return played{p, err}
		},
		Ends: func(p played) bool { return p.err != nil },
		Take: func(_ int, p played) {
			if failed = p.err; failed == nil {
				results.WriteString(p.Digest)
			}
		},
	}
	if err := list.Run(ctx); err != nil {
		return nil, err
	}
	t := &batchTime{wall: time.Since(begin), cpu: cpuTime() + childTime() - cpu, results: results.String()}
	t.others = share(machineTime()-all-t.cpu, t.wall*time.Duration(runtime.NumCPU()))
	return t, failed
}

// machineTime returns the busy time of all processors together, whichever programs used them; 0 if the system does not
// report it.
func machineTime() time.Duration {
	const tick = 10 * time.Millisecond // unit of processor time in /proc/stat
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	var user, nice, system, idle, wait, irq, soft, steal int64
	if _, err := fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq,
		&soft, &steal); err != nil {
		return 0
	}
	return time.Duration(user+nice+system+irq+soft+steal) * tick
}
