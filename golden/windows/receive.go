package windows

import (
	"math"
	"slices"

	"nictwin/models/nic/core"
)

// Frame is the part of a received frame that determines its possible verdicts.
type Frame struct {
	Span
	Port int
	Data []byte
}

// Receive holds the receive configuration over time. Make it with NewReceive.
type Receive struct {
	now      core.Config
	settings [core.NumSettings]history[uint32]
	rules    history[*core.RuleSet]
	pause    history[core.PauseSet]
	quiet    int64 // last cycle in which an old value of the three above may be in force
	rss      rss
}

// NewReceive returns the receive configuration of a device whose registers have always had these values.
func NewReceive(regs *core.Regs) *Receive {
	r := &Receive{now: regs.Config(), quiet: math.MinInt64, rss: rss{quiet: math.MinInt64}}
	for i := range r.settings {
		r.settings[i].start(regs.Setting(i))
	}
	r.rules.start(r.now.Rules)
	r.pause.start(r.now.Pause)
	return r
}

// Now returns the configuration since the latest write.
func (r *Receive) Now() *core.Config { return &r.now }

// Lost returns how many hashes were accepted unchecked because too many were possible.
func (r *Receive) Lost() uint64 { return r.rss.lost }

// Written records the configuration after a write that was accepted in a cycle. Cycles never
// decrease.
func (r *Receive) Written(regs *core.Regs, cycle int64) {
	cfg := regs.Receive()
	for i := range r.settings {
		r.quiet = max(r.quiet, r.settings[i].record(regs.Setting(i), cycle))
	}
	r.quiet = max(r.quiet, r.rules.record(cfg.Rules, cycle), r.pause.record(cfg.Pause, cycle))
	r.rss.written(&r.now, cfg, cycle)
	r.now = *cfg
}

// CloseRules ends the windows of rules written before cycle `asked`, in which a read of TBL_CMD was accepted that
// returned busy 0. The answer came in cycle now.
func (r *Receive) CloseRules(asked, now int64) {
	r.rules.close(asked, now)
	r.quiet = max(r.rules.quiet(), r.pause.quiet())
	for _, h := range r.settings {
		r.quiet = max(r.quiet, h.quiet())
	}
}

// Sure reports whether a frame whose first beat was accepted in a cycle can only have been processed under the
// latest configuration.
func (r *Receive) Sure(first int64) bool { return max(r.quiet, r.rss.quiet) < first }

// Gates calls `visit` with every configuration that may be in force for a frame of the given span. They differ only in
// the setting that the checks of [R2] use.
func (r *Receive) Gates(s Span, visit func(*core.Config)) {
	cfg := r.now
	r.settings[core.SettingGate].each(s, func(word uint32) {
		cfg.Set(core.SettingGate, word)
		visit(&cfg)
	})
}

// Verdicts appends every verdict that a frame can get. hashOpen says that the frame came in during
// a change of the RSS key or table: then SettleHash determines which hashes a verdict may have.
func (r *Receive) Verdicts(f *Frame, out []core.RxVerdict) (all []core.RxVerdict, hashOpen bool) {
	hashOpen = r.rss.quiet >= f.First
	var seen []core.RxVerdict
	for _, cfg := range r.mixtures(f.Span) {
		var v core.RxVerdict
		cfg.Classify(f.Port, f.Data, &v)
		if slices.Contains(seen, v) {
			continue
		}
		seen = append(seen, v)
		if hashOpen {
			out = r.rss.spread(f.Span, &v, out)
		} else {
			out = append(out, v)
		}
	}
	return out, hashOpen
}

// mixtures returns every configuration, mixed of old and new values, that may apply to a frame. The RSS key and
// table are not varied.
func (r *Receive) mixtures(s Span) []core.Config {
	all := []core.Config{r.now}
	for i, h := range r.settings {
		all = mix(all, h, s, func(c *core.Config, word uint32) { c.Set(i, word) })
	}
	all = mix(all, r.rules, s, func(c *core.Config, rules *core.RuleSet) { c.Rules = rules })
	return mix(all, r.pause, s, func(c *core.Config, pause core.PauseSet) { c.Pause = pause })
}

// mix combines each configuration with each value of a history.
func mix[T comparable](cfgs []core.Config, h history[T], s Span, set func(*core.Config, T)) (out []core.Config) {
	h.each(s, func(v T) {
		for _, c := range cfgs {
			set(&c, v)
			out = append(out, c)
		}
	})
	return out
}

// SettleHash sets the hash of a verdict to the one in its completion entry, for a frame that came in during a
// change of the RSS key or table. It reports whether the frame can have that hash, and the hash can lead to that
// queue.
func (r *Receive) SettleHash(s Span, v *core.RxVerdict, hash uint32, queue int) bool {
	return r.rss.settle(s, v, hash, queue)
}
