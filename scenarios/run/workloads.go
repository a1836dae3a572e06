package run

import (
	"fmt"
	"slices"

	"nictwin/models/board"
	"nictwin/models/server/host"
	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/scenarios/run/workload"
)

// AllWorkloads returns the workloads, which the caller may change.
func (s *Spec) AllWorkloads() workload.List {
	if s.Workload != nil {
		return workload.List{s.Workload}
	}
	list := make(workload.List, len(s.Workloads))
	for i := range s.Workloads {
		list[i] = &s.Workloads[i]
	}
	return list
}

// workloadPath returns the field with a workload.
func (s *Spec) workloadPath(i int) field.Path {
	if s.Workload != nil {
		return "workload"
	}
	return field.Path(fmt.Sprintf("workloads[%d]", i))
}

// sweepsWorkload reports whether the sweep sets a field of a workload; an empty name stands for any field.
func (s *Spec) sweepsWorkload(name field.Path) bool {
	for _, list := range []field.Path{"workload", "workloads"} {
		if name != "" {
			list += "." + name
		}
		if s.Sweep.axes.Sets(list) {
			return true
		}
	}
	return false
}

// validateWorkloads returns every error of the workloads by themselves.
func (s *Spec) validateWorkloads() error {
	if s.Workload != nil && len(s.Workloads) > 0 {
		return field.Errorf("workloads", ": %v is there, too: want one of them", field.Path("workload"))
	}
	if s.Workload == nil && len(s.Workloads) == 0 {
		return field.Errorf("workloads", ": none: want one or more")
	}
	servers := len(s.Board.All())
	if servers == 0 { // the board reports that
		servers = workload.MaxServers
	}
	return s.AllWorkloads().Validate(servers, s.workloadPath)
}

// validatePhases checks that phases begin and end before the traffic must.
func (c *Case) validatePhases() error {
	most := quantity.Time(c.limits().traffic)
	const want = "%v: want it before the traffic must end, after %v (%v)"
	for i, w := range c.AllWorkloads() {
		at, limit := c.workloadPath(i), field.Path("limits.traffic_ps")
		if w.Begin >= most {
			return field.Errorf(at+".begin", want, w.Begin, most, limit)
		}
		if w.End != nil && *w.End >= most {
			return field.Errorf(at+".end", want, *w.End, most, limit)
		}
	}
	return nil
}

// hostOf returns the machine of a card's server, or nil if it has no cores.
func hostOf(c *board.CardSpec) *host.Spec {
	switch {
	case c.Switch != nil:
		return c.Switch.Host.Host
	case c.Direct != nil:
		return c.Direct.Host
	}
	return nil
}

// validateApplications checks that a server and its stack can run the applications of all workloads: each needs a verbs
// context, and a core of the host's first socket.
func (s *Spec) validateApplications(server int, c *board.CardSpec) error {
	list, stack := s.AllWorkloads(), s.stack(server)
	n := list.Applications(server)
	most, why := workload.MaxApplications, "a server has that many at most"
	machine := hostOf(c)
	if machine != nil && machine.CPU.Cores < most {
		most = machine.CPU.Cores
		why = fmt.Sprintf("the first socket of a server has %d cores, and each application takes one", most)
	}
	if machine == nil {
		most, why = 1, fmt.Sprintf("stack %s runs one application on a server whose board has no cores", stack.Kind)
	}
	if n <= most {
		return nil
	}
	of := slices.IndexFunc(list, func(w *workload.Spec) bool { return w.Applications(server) > 0 })
	at, value := s.workloadPath(of), ""
	if list[of].Processes == n { // a pair of servers
		at, value = at+".processes", fmt.Sprint(n)
	}
	want := fmt.Sprintf("want %d at most", most)
	if machine == nil {
		want = "want 1, or a board with cores"
	}
	return field.Errorf(at, "%s: server %d would run %d applications, but %s: %s", value, server, n, why, want)
}
