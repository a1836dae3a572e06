package nic

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Spec configures a NIC: the sizes of the build [B2] and the timing of the component, in cycles of
// Freq.
type Spec struct {
	nicspec.Build `yaml:",inline"`

	Freq   simcore.Freq `yaml:",inline"`
	Timing Timing       `yaml:"timing"`
}

// Timing holds the latencies of the pipeline, in cycles, and its depths.
type Timing struct {
	RxPipe  int `yaml:"rx_pipe"`  // from the last beat of a frame to its verdict
	RxPlan  int `yaml:"rx_plan"`  // from the verdict on a frame to its first write
	TxPlan  int `yaml:"tx_plan"`  // from the start of a fetched work entry to its first read
	TxPipe  int `yaml:"tx_pipe"`  // from the arrival of all pieces of a frame to its first beat
	RegPipe int `yaml:"reg_pipe"` // from the acceptance of a register access to its effect
	CplPipe int `yaml:"cpl_pipe"` // from the acceptance of a completion to the use of its data

	Tags       int `yaml:"tags"`         // number of read requests in flight, 1..256
	RxPrefetch int `yaml:"rx_prefetch"`  // descriptors that a queue holds or has requested
	TxPrefetch int `yaml:"tx_prefetch"`  // blocks of work entries that a queue holds or has requested
	TxInFlight int `yaml:"tx_in_flight"` // work entries in flight per port, over all queues
	TxBufBytes int `yaml:"tx_buf_bytes"` // frame bytes of work entries in flight per port

	CopyJobs   int `yaml:"copy_jobs"`   // copies in flight per channel
	CopyChunks int `yaml:"copy_chunks"` // chunks of 4 KB that a channel holds or has requested
}

// DefaultSpec returns the default build at 400 MHz.
func DefaultSpec() Spec {
	return Spec{
		Build: nicspec.DefaultBuild(),
		Timing: Timing{
			RxPipe: 12, RxPlan: 4, TxPlan: 6, TxPipe: 10, RegPipe: 4, CplPipe: 4,
			Tags: 256, RxPrefetch: 256, TxPrefetch: 256, TxInFlight: 256, TxBufBytes: 128 << 10,
			CopyJobs: 8, CopyChunks: 16,
		},
	}
}

// Validate returns every error of the spec, each a field.Error.
func (s Spec) Validate() error {
	var errs []error
	check := func(ok bool, path field.Path, got int, want string) {
		if !ok {
			errs = append(errs, field.Errorf(path, "%d: want %s", got, want))
		}
	}
	errs = append(errs, s.Build.Validate())
	t := s.Timing
	for _, c := range [...]struct {
		path      field.Path
		v, lo, hi int
	}{
		{"timing.rx_pipe", t.RxPipe, 1, 48}, {"timing.rx_plan", t.RxPlan, 1, 1000},
		{"timing.tx_plan", t.TxPlan, 1, 1000}, {"timing.tx_pipe", t.TxPipe, 1, 1000},
		{"timing.reg_pipe", t.RegPipe, 1, 48}, {"timing.cpl_pipe", t.CplPipe, 1, 1000},
		{"timing.tags", t.Tags, 1, 256}, {"timing.tx_in_flight", t.TxInFlight, 1, 1024},
		{"timing.tx_buf_bytes", t.TxBufBytes, 9216, 1 << 24},
		{"timing.copy_jobs", t.CopyJobs, 1, 64}, {"timing.copy_chunks", t.CopyChunks, 1, 1024},
	} {
		check(c.v >= c.lo && c.v <= c.hi, c.path, c.v, fmt.Sprintf("%d..%d", c.lo, c.hi))
	}
	for _, c := range [...]struct {
		path  field.Path
		v, hi int
	}{{"timing.rx_prefetch", t.RxPrefetch, 1024}, {"timing.tx_prefetch", t.TxPrefetch, 256}} {
		check(c.v >= 4 && c.v <= c.hi && c.v&(c.v-1) == 0, c.path, c.v, fmt.Sprintf("a power of two, 4..%d", c.hi))
	}
	errs = append(errs, s.Freq.Validate())
	return errors.Join(errs...)
}
