package run

import (
	"fmt"
	"slices"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/observe/heartbeat"
	"nictwin/scenarios/observe/result"
)

// addStop adds a finding for a wait that reached its limit. In the list it stands before those that follow from it,
// such as missing messages, but after one for a wrong message.
func (p *Played) addStop(stuck *StuckError) {
	p.add(result.Finding{Domain: result.Application, Field: "progress", Expected: stuck.What, Got: stuck.Why,
		Text: stuck.Error()})
	if last := len(p.Findings) - 1; p.Message < 0 {
		p.Findings = slices.Insert(p.Findings[:last], 0, p.Findings[last])
	}
}

// blameStop sets the kind of failure of applications that wait in vain.
func (w *world) blameStop(p *Played) {
	kind := result.Deadlock
	for i, v := range w.rack.Servers {
		j := w.judges[i]
		if j == nil || !slices.ContainsFunc(p.Findings, func(f result.Finding) bool { return f.NIC == v.Name }) {
			continue
		}
		nic := v.Cards[0].NIC
		silent := simcore.Ps(nic.Cycles()-j.Cycles()) * nic.Period()
		if kindOfStop(w.engine.Pending() > 0, silent, w.limits.quiet) == result.Hang {
			kind = result.Hang
		}
	}
	at := slices.IndexFunc(p.Findings, func(f result.Finding) bool { return f.Field == "progress" })
	p.Findings[at].Failure = kind
}

// kindOfStop returns the kind of failure of applications that wait for a NIC with work outstanding: a hang if the NIC
// has been silent for more than half of `quiet`, the limit, or if no event is pending; else a deadlock of the software.
func kindOfStop(pending bool, silent, quiet simcore.Ps) result.Kind {
	if !pending || silent > quiet/2 {
		return result.Hang
	}
	return result.Deadlock
}

// report describes the traffic to the heartbeat.
func (w *world) report(total int) {
	if !w.o.Beat.Wants() {
		return
	}
	s := heartbeat.Status{Cycle: w.rack.Servers[0].Cards[0].NIC.Cycles(), Mark: w.apps.Progress() + w.moved()}
	s.Doing = fmt.Sprintf("%s%s, %d of %d messages", w.o.During, w.c.Name, w.apps.Messages(), total)
	if n := w.apps.InFlight(); n > 0 {
		s.Busy = fmt.Sprintf("%d requests", n)
	}
	w.o.Beat.Report(s)
}
