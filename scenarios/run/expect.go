package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/verbs"
)

// ExpectSpec describes the expected results of a case. The zero value expects every message to arrive once, intact and
// in order, and every request to succeed.
type ExpectSpec struct {
	FigureSpec `yaml:",inline"`

	Errors []ErrorSpec `yaml:"errors"` // completions in error that must occur; all others are findings
	// messages that may be lost although their requests succeed; only on UC and UD
	Lost    LostSpec     `yaml:"lost"`
	Compare apps.Compare `yaml:"compare"` // what two runs on different NICs must agree on
	Failure *string      `yaml:"failure"` // text of the error with which a stack must fail; nil: none may fail
	Within  *simcore.Ps  `yaml:"within_ps"`
	Least   simcore.Ps   `yaml:"least_ps"` // the traffic must take at least this long
}

// ErrorSpec describes expected completions in error.
type ErrorSpec struct {
	At      Place      `yaml:"at"` // end of the flow at which the completions occur
	Queue   Queue      `yaml:"queue"`
	Status  StatusName `yaml:"status"`
	AtLeast int        `yaml:"at_least"` // minimum number of these completions; 0 means 1
	AtMost  int        `yaml:"at_most"`  // maximum number of these completions; 0: any number
}

// LostSpec bounds the number of lost messages.
type LostSpec struct {
	AtLeast int `yaml:"at_least"`
	AtMost  int `yaml:"at_most"`
}

// Place names an end of a flow.
type Place string

const (
	AtClient Place = "client"
	AtServer Place = "server"
)

// Queue names a queue of a queue pair.
type Queue string

const (
	QueueSend    Queue = "send"
	QueueReceive Queue = "receive"
)

// StatusName names a completion status as libibverbs does, in lower case and without the prefix.
type StatusName string

var statuses = []struct {
	name   StatusName
	status verbs.Status
}{
	{"loc_len_err", verbs.WCLocLenErr}, {"loc_qp_op_err", verbs.WCLocQPOpErr}, {"loc_prot_err", verbs.WCLocProtErr},
	{"wr_flush_err", verbs.WCFlushErr},
	{"bad_resp_err", verbs.WCBadRespErr}, {"loc_access_err", verbs.WCLocAccessErr},
	{"rem_inv_req_err", verbs.WCRemInvReqErr},
	{"rem_access_err", verbs.WCRemAccessErr}, {"rem_op_err", verbs.WCRemOpErr}, {"retry_exc_err", verbs.WCRetryExcErr},
	{"rnr_retry_exc_err", verbs.WCRNRRetryExcErr}, {"fatal_err", verbs.WCFatalErr}, {"general_err", verbs.WCGeneralErr},
}

func (n StatusName) status() (verbs.Status, bool) {
	for _, s := range statuses {
		if s.name == n {
			return s.status, true
		}
	}
	return 0, false
}

func statusNames() string {
	var all []string
	for _, s := range statuses {
		all = append(all, string(s.name))
	}
	return strings.Join(all, ", ")
}

// nameOf returns the name that scenario files use for a status.
func nameOf(s verbs.Status) string {
	for _, x := range statuses {
		if x.status == s {
			return string(x.name)
		}
	}
	return s.String()
}

func (x *ExpectSpec) validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	for i, e := range x.Errors {
		at := field.Path(fmt.Sprintf("errors[%d]", i))
		bad(e.At == AtClient || e.At == AtServer, at+".at", "%q: want %s or %s", e.At, AtClient, AtServer)
		bad(e.Queue == QueueSend || e.Queue == QueueReceive, at+".queue", "%q: want %s or %s", e.Queue, QueueSend,
			QueueReceive)
		_, known := e.Status.status()
		bad(known, at+".status", "%q: want %s", e.Status, statusNames())
		bad(e.AtLeast >= 0, at+".at_least", "%d: want 0 or more", e.AtLeast)
		bad(e.AtMost == 0 || e.AtMost >= max(e.AtLeast, 1), at+".at_most",
			"%d: want 0 for any number, or %d or more (%v)", e.AtMost, max(e.AtLeast, 1), at+".at_least")
	}
	bad(x.Lost.AtLeast >= 0, "lost.at_least", "%d: want 0 or more", x.Lost.AtLeast)
	bad(x.Lost.AtMost >= x.Lost.AtLeast, "lost.at_most", "%d: want %d or more (%v)", x.Lost.AtMost, x.Lost.AtLeast,
		field.Path("lost.at_least"))
	bad(x.Compare.Valid(), "compare", "%q: want %s, %s or %s", x.Compare, apps.Exact, apps.Messages, apps.Counts)
	bad(x.Failure == nil || *x.Failure != "", "failure", `"": want part of the error of a stack, or none`)
	bad(x.Within == nil || *x.Within > 0, "within_ps", "%v: want more than 0ps, or none for any time",
		(*quantity.Time)(x.Within))
	bad(x.Least >= 0 && (x.Within == nil || x.Least <= *x.Within), "least_ps",
		"%v: want 0 or more, and %v at most, if there is one", quantity.Time(x.Least), field.Path("within_ps"))
	return errors.Join(errs...)
}

// validateGiven rejects expected losses and completions in error that no workload can have. If a sweep sets something
// that they depend on, the check is made for each of its cases instead.
func (s *Spec) validateGiven() error {
	if s.sweepsWorkload("") || s.Sweep.axes.Sets("expect") || s.validateWorkloads() != nil {
		return nil
	}
	var errs []error
	list := s.AllWorkloads()
	given := func(has func(w *workload.Spec) bool, path field.Path, format string, a ...any) {
		if !slices.ContainsFunc(list, has) {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	if n := s.Expect.Lost.AtLeast; n > 0 {
		given(loses, "expect.lost.at_least", "%d: every workload has a reliable transport: want 0, or one over %s, %s "+
			"or %s, or of kind %s", n, apps.UC, apps.UD, apps.Raw, apps.VXLAN)
	}
	for i := range s.Expect.Errors {
		e := &s.Expect.Errors[i]
		given(func(w *workload.Spec) bool { return e.has(w) }, field.Path(fmt.Sprintf("expect.errors[%d].queue", i)),
			"%s: no workload has requests in that queue of the %s", e.Queue, e.At)
	}
	return errors.Join(errs...)
}

// loses reports whether messages of a workload may be lost.
func loses(w *workload.Spec) bool {
	return w.Transport == apps.UC || w.Transport == apps.UD || w.Transport == apps.Raw || w.Kind == apps.VXLAN
}

// has reports whether a workload has requests in the queue that e names.
func (e *ErrorSpec) has(w *workload.Spec) bool {
	both := w.MessagesPerRequest() > 1 || w.Served() || w.Kind == apps.Ring
	switch {
	case w.Transport == apps.UDP: // no completions
		return false
	case e.At == AtClient && e.Queue == QueueReceive || e.At == AtServer && e.Queue == QueueSend:
		return both
	case e.At == AtServer:
		return w.HandedOver()
	}
	return true
}

// of reports whether e describes the completions that c counts.
func (e *ErrorSpec) of(c *apps.Count) bool {
	s, _ := e.Status.status()
	return c.Status == s && c.Client == (e.At == AtClient) && c.Recv == (e.Queue == QueueReceive)
}

// discrepancy is an expectation that was not met.
type discrepancy struct {
	field, expected, got string
	why                  string // explanation that the scenario gives; may be empty
}

func (d discrepancy) String() string {
	text := fmt.Sprintf("%s: expected %s, got %s", d.field, d.expected, d.got)
	if d.why != "" {
		text += " (" + d.why + ")"
	}
	return text
}

// span returns a range of numbers as text.
func span(low, high int) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// judge compares a result with the expectations and returns the discrepancies. posted is the number of messages of each
// workload.
func (c *Case) judge(r *apps.Result, took simcore.Ps, posted []int) (found []discrepancy) {
	x := &c.Expect
	counts := r.Counts()
	for i := range x.Errors {
		e, n := &x.Errors[i], 0
		for k := range counts {
			if e.of(&counts[k]) {
				n += counts[k].N
			}
		}
		if n < max(e.AtLeast, 1) || e.AtMost > 0 && n > e.AtMost {
			want := fmt.Sprintf("%d or more", max(e.AtLeast, 1))
			if e.AtMost > 0 {
				want = span(max(e.AtLeast, 1), e.AtMost)
			}
			found = append(found, discrepancy{field: fmt.Sprintf("expect.errors[%d]: completions of the %s's %s "+
				"queue with %s", i, e.At, e.Queue, e.Status), expected: want, got: fmt.Sprint(n)})
		}
	}
	for i := range counts {
		k := &counts[i]
		if k.Status != verbs.WCSuccess && !slices.ContainsFunc(x.Errors, func(e ErrorSpec) bool { return e.of(k) }) {
			what := map[bool]Queue{false: QueueSend, true: QueueReceive}[k.Recv]
			d := discrepancy{field: fmt.Sprintf("server %s, %s queue: completions with %s (%v)", k.Server, what,
				nameOf(k.Status), k.Status)}
			d.expected, d.got = "none", fmt.Sprint(k.N)
			if k.Status == verbs.WCRetryExcErr {
				d.why = c.shortTimeout()
			}
			found = append(found, d)
		}
	}
	if r.Lost < x.Lost.AtLeast || r.Lost > x.Lost.AtMost {
		found = append(found, discrepancy{field: "expect.lost: messages that were lost",
			expected: span(x.Lost.AtLeast, x.Lost.AtMost), got: fmt.Sprint(r.Lost)})
	}
	if x.Within != nil && took > *x.Within {
		found = append(found, discrepancy{field: "expect.within: time of the traffic",
			expected: fmt.Sprintf("%v at most", quantity.Time(*x.Within)), got: quantity.Time(took).String()})
	}
	if took < x.Least {
		found = append(found, discrepancy{field: "expect.least: time of the traffic",
			expected: fmt.Sprintf("%v at least", quantity.Time(x.Least)), got: quantity.Time(took).String()})
	}
	if len(x.Errors) > 0 || x.Failure != nil {
		return found
	}
	return append(found, c.whole(r, posted)...)
}

// whole checks that the numbers of arrived and of lost messages add up to the workloads' number of messages, and that
// each workload posted some.
func (c *Case) whole(r *apps.Result, posted []int) (found []discrepancy) {
	want := 0
	for i, n := range posted {
		if want += n; n == 0 {
			found = append(found, discrepancy{field: fmt.Sprintf("messages of %s before its end", c.workloadPath(i)),
				expected: "some", got: "0"})
		}
	}
	if r.Messages+r.Lost != want {
		found = append(found, discrepancy{field: "messages that arrived as they had to, or were lost",
			expected: fmt.Sprint(want), got: fmt.Sprintf("%d and %d", r.Messages, r.Lost)})
	}
	return found
}
