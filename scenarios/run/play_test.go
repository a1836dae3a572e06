package run

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/verbs"
)

// caseOf returns the only case of a scenario; text follows the fixed first lines.
func caseOf(t testing.TB, text string) *Case {
	t.Helper()
	list, err := Parse("test.yaml", []byte("name: test\ndescription: a test\n"+text))
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

const onRNICs = "board: {preset: connectx6-cores-pair}\nstacks: [{kind: rnic}]\n"

// texts joins the texts of the findings.
func texts(p *Played) string {
	var all []string
	for _, f := range p.Findings {
		all = append(all, f.Text)
	}
	return strings.Join(all, "\n")
}

// Every kind of workload passes over every transport that supports it, with and without cores. Runs repeat exactly, and
// another seed gives another digest.
func TestWorkloadsOnRNICs(t *testing.T) {
	common := "queue_pairs: 2, both_ways: true, count: 24, depth: 4, sizes: [8, 100, 1024], offset: 24, signal_every: 3"
	for _, x := range []struct {
		kind, options string
		transports    string
	}{
		{"send", "", "rc uc ud"}, {"send", ", batch: 3, events: true", "rc uc ud"},
		{"echo", ", batch: 4, events: true, inline: true, sizes: [4, 32]", "rc"},
		{"atomics", ", sizes: [8], batch: 4, events: true", "rc"}, {"read", ", batch: 2, events: true", "rc"},
		{"send", ", immediate: true", "rc uc ud"}, {"send", ", inline: true, sizes: [0, 1, 32]", "rc"},
		{"write", "", "rc uc"}, {"write_imm", "", "rc uc"}, {"read", "", "rc"}, {"atomics", ", sizes: [8]", "rc"},
		{"atomics", ", sizes: [8], shared_counter: true", "rc"},
		{"echo", "", "rc uc ud"}, {"reflector", ", immediate: true", "rc uc ud"},
		{"ping_pong", ", depth: 1, signal_every: 1", "rc ud"},
	} {
		for _, transport := range strings.Fields(x.transports) {
			for _, on := range []string{onRNICs, strings.Replace(onRNICs, "-cores", "", 1)} {
				words := common
				for _, o := range strings.Split(strings.TrimPrefix(x.options, ", "), ", ") {
					if key, _, ok := strings.Cut(o, ":"); ok && strings.Contains(words, key+":") {
						words = without(words, key)
					}
				}
				c := caseOf(t, on+"workload: {kind: "+x.kind+", transport: "+transport+", "+words+x.options+"}")
				p, err := c.Play(t.Context(), Options{})
				require.NoError(t, err)
				require.True(t, p.Pass(), "%s over %s: %s", x.kind, transport, texts(p))
				require.Equal(t, 4*24*c.Workload.MessagesPerRequest(), p.Result.Messages)
				again, err := c.Play(t.Context(), Options{})
				require.NoError(t, err)
				require.Equal(t, p.Result, again.Result)
				require.Equal(t, p.Sim, again.Sim)
				other, err := c.Play(t.Context(), Options{Seed: 7})
				require.NoError(t, err)
				require.True(t, other.Pass(), texts(other))
				if x.kind != "atomics" {
					require.NotEqual(t, p.Digest, other.Digest)
				}
			}
		}
	}
}

// without removes a key and its value from a YAML list of keys and values.
func without(words, key string) string {
	from := strings.Index(words, key+":")
	rest := words[from:]
	depth := 0
	for i, r := range rest {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ',' && depth == 0:
			return words[:from] + rest[i+2:]
		}
	}
	return strings.TrimSuffix(words[:from], ", ")
}

// bent is an rnic stack whose completions or loads a test alters, as a bug would.
type bent struct {
	*rnic
	hurt *hurt
}

// hurt alters a stack as a bug would: the completions of a poll, or the bytes of a load.
type hurt struct {
	wcs  func(n int, wcs []verbs.WC) int // alters the n completions of a poll, and returns how many it reports
	load func(addr uint64, b []byte)
}

func (b *bent) Context(int) verbs.Context { return bentContext{b.rnic.contexts[0], b.hurt} }
func (b *bent) Core(int) apps.Core        { return bentCore{b.rnic.cores[0], b.hurt} }

type bentCore struct {
	apps.Core
	hurt *hurt
}

func (c bentCore) Load(addr uint64, b []byte) error {
	err := c.Core.Load(addr, b)
	if c.hurt.load != nil {
		c.hurt.load(addr, b)
	}
	return err
}

type bentContext struct {
	verbs.Context
	hurt *hurt
}

type bentCQ struct {
	verbs.CQ
	hurt *hurt
}

func (c bentContext) CreateCQ(n int, done func(verbs.CQ, error)) {
	c.Context.CreateCQ(n, func(q verbs.CQ, err error) { done(bentCQ{q, c.hurt}, err) })
}

func (c bentContext) CreateQP(pd verbs.PD, a verbs.QPInitAttr, done func(verbs.QP, error)) {
	a.SendCQ, a.RecvCQ = a.SendCQ.(bentCQ).CQ, a.RecvCQ.(bentCQ).CQ
	c.Context.CreateQP(pd, a, done)
}

func (c bentContext) DestroyCQ(q verbs.CQ, done func(error)) {
	c.Context.DestroyCQ(q.(bentCQ).CQ, done)
}

func (q bentCQ) Poll(wcs []verbs.WC) (int, error) {
	n, err := q.CQ.Poll(wcs)
	if q.hurt.wcs != nil {
		n = q.hurt.wcs(n, wcs)
	}
	return n, err
}

const recvBit = 1 << 63 // set in the work request IDs of receives

// nth returns a function that calls f with the nth receive completion (or send completion), counted from 0.
func nth(n int, recv bool, f func(i, count int, wcs []verbs.WC) int) func(int, []verbs.WC) int {
	seen := 0
	return func(count int, wcs []verbs.WC) int {
		for i := range count {
			if (wcs[i].ID&recvBit != 0) != recv {
				continue
			}
			if seen++; seen == n+1 {
				return f(i, count, wcs)
			}
		}
		return count
	}
}

func change(f func(*verbs.WC)) func(i, count int, wcs []verbs.WC) int {
	return func(i, count int, wcs []verbs.WC) int {
		f(&wcs[i])
		return count
	}
}

// Applications find lost, repeated, swapped and altered completions and bytes, and report them with server, flow and
// message.
func TestWrongStacksAreFound(t *testing.T) {
	before := stacks
	t.Cleanup(func() { stacks = before })
	drop := func(i, count int, wcs []verbs.WC) int { return i + copy(wcs[i:], wcs[i+1:count]) }
	var held *verbs.WC
	late := func(n int) func(int, []verbs.WC) int { // delivers completion n after the next one
		hold := nth(n, true, func(i, count int, wcs []verbs.WC) int {
			kept := wcs[i]
			held = &kept
			return drop(i, count, wcs)
		})
		return func(count int, wcs []verbs.WC) int {
			had := held != nil
			if count = hold(count, wcs); had && count > 0 && count < len(wcs) {
				wcs[count], held = *held, nil
				count++
			}
			return count
		}
	}
	loads := 0
	for name, x := range map[string]struct {
		hurt hurt
		kind string
		want string
	}{
		"a byte": {hurt{load: func(_ uint64, b []byte) {
			if loads++; loads == 4 {
				b[100] ^= 0x41
			}
		}}, "send", "server Server[1], server of flow 0: message 3 (256 B): byte 100 at 0x1000000"},
		"an old line": {hurt{load: func(_ uint64, b []byte) {
			if loads++; loads == 4 {
				copy(b[64:128], strings.Repeat("\x5a", 64))
			}
		}}, "send", "server of flow 0: message 3 (256 B): byte 64 at"},
		"a lost receive": {hurt{wcs: nth(3, true, drop)}, "send", "the completion of receive request 4: expected " +
			"that of 3"},
		"a lost last one": {hurt{wcs: nth(19, true, drop)}, "send", "waited for the applications to end: nothing " +
			"was completed for"},
		"a late receive": {hurt{wcs: late(3)}, "send", "the completion of receive request 4: expected that of 3"},
		"a length": {hurt{wcs: nth(3, true, change(func(w *verbs.WC) { w.ByteLen-- }))}, "send",
			"message 3 came with 255 B: expected 256"},
		"an opcode": {hurt{wcs: nth(3, false, change(func(w *verbs.WC) { w.Opcode = verbs.WCWrite }))}, "send",
			"request 3 ended as RDMA_WRITE: expected SEND"},
		"an early one": {hurt{wcs: nth(3, false, change(func(w *verbs.WC) { w.ID++ }))}, "send",
			"the completion of request 4"},
		"immediate data": {hurt{wcs: nth(3, true, change(func(w *verbs.WC) { w.Imm ^= 1 }))}, "write_imm",
			"message 3: immediate data"},
		"an error": {hurt{wcs: nth(3, false, change(func(w *verbs.WC) { w.Status = verbs.WCRetryExcErr }))},
			"send", "completions with retry_exc_err (transport retry counter exceeded): expected none, got 1"},
		"a stranger": {hurt{wcs: nth(3, false, change(func(w *verbs.WC) { w.QPN = 77 }))}, "send",
			"a completion of queue pair 0x4d, which is not the application's"},
		"a read that lacks": {hurt{load: func(_ uint64, b []byte) { clear(b[len(b)-1:]) }}, "read",
			"client of flow 0: message 0 (256 B): byte 255 at"},
		"a write that lacks": {hurt{load: func(_ uint64, b []byte) { clear(b[:9]) }}, "write",
			"server of flow 0: message 0 (256 B): byte"},
	} {
		t.Run(name, func(t *testing.T) {
			loads, held = 0, nil
			stacks = map[StackKind]stackKind{StackRNIC: {fitsRNIC, func(w *world, server int) (Stack, error) {
				s, err := openRNIC(w, server)
				return &bent{s.(*rnic), &x.hurt}, err
			}}}
			if x.kind != "read" { // only messages to the second server are wrong
				stacks[StackRNIC] = stackKind{fitsRNIC, func(w *world, server int) (Stack, error) {
					s, err := openRNIC(w, server)
					h := &x.hurt
					if sends := strings.HasPrefix(x.want, "request") ||
						strings.HasPrefix(x.want, "the completion of request") ||
						strings.Contains(x.want, "retry_exc") ||
						strings.Contains(x.want, "0x4d"); (server == 0) != sends {
						h = new(hurt)
					}
					return &bent{s.(*rnic), h}, err
				}}
			}
			c := caseOf(t, onRNICs+"workload: {kind: "+x.kind+", sizes: [256], count: 20}\n")
			p, err := c.Play(t.Context(), Options{})
			found := texts(p)
			if err != nil {
				found += err.Error()
			}
			require.Contains(t, found, x.want)
		})
	}
}

// A write to memory outside of the applications' buffers is found, whether software or a device made it.
func TestTrespassIsFound(t *testing.T) {
	before := stacks
	t.Cleanup(func() { stacks = before })
	stacks = map[StackKind]stackKind{StackRNIC: {fitsRNIC, func(w *world, server int) (Stack, error) {
		s, err := openRNIC(w, server)
		h := &hurt{wcs: nth(3, true, func(_, count int, _ []verbs.WC) int {
			at := mem.Bus(nicspec.EndpointHost, stackFrom+stackBytes) + 256 + 7 // behind the first buffer
			require.NoError(t, w.rack.Servers[server].Cards[0].Memory.Write(at, []byte{1}))
			return count
		})}
		return &bent{s.(*rnic), h}, err
	}}}
	c := caseOf(t, onRNICs+"workload: {sizes: [256], count: 20}")
	p, err := c.Play(t.Context(), Options{})
	require.NoError(t, err)
	require.Contains(t, texts(p), "is outside of every buffer: expected 0x5a as before, got 0x01")
}

// Requests that are wrong on purpose end with the status that verbs prescribe. A status that the scenario does not
// expect is a finding, and so is an expected one that does not occur.
func TestMisuse(t *testing.T) {
	for _, x := range []struct{ kind, what, status, at, queue string }{
		{"write", "remote_key", "rem_access_err", "client", "send"},
		{"read", "remote_bounds", "rem_access_err", "client", "send"},
		{"write", "local_key", "loc_prot_err", "client", "send"},
		{"send", "local_bounds", "loc_prot_err", "client", "send"},
		{"send", "short_receive", "rem_inv_req_err", "client", "send"},
		{"send", "bad_receive", "rem_op_err", "client", "send"},
	} {
		text := onRNICs + "workload: {kind: " + x.kind + ", sizes: [256], count: 20, misuse: {what: " + x.what +
			", message: 9}}\n"
		expect := "expect: {errors: [{at: client, queue: send, status: " + x.status +
			", at_most: 1}, {at: client, queue: send, status: wr_flush_err}"
		if strings.HasSuffix(x.what, "_receive") {
			expect += ", {at: server, queue: receive, status: " + map[string]string{"short_receive": "loc_len_err",
				"bad_receive": "loc_prot_err"}[x.what] +
				", at_most: 1}, {at: server, queue: receive, status: wr_flush_err}"
		}
		c := caseOf(t, text+expect+"]}")
		p, err := c.Play(t.Context(), Options{})
		require.NoError(t, err)
		require.True(t, p.Pass(), "%s: %s", x.what, texts(p))
		require.Equal(t, 9, p.Result.Messages, x.what)
		p, err = caseOf(t, text).Play(t.Context(), Options{})
		require.NoError(t, err)
		require.Contains(t, texts(p), "completions with "+x.status, x.what)
		p, err = caseOf(t, strings.Replace(text, ", misuse: {what: "+x.what+", message: 9}", "",
			1)+expect+"]}").Play(t.Context(), Options{})
		require.NoError(t, err)
		require.Contains(t, texts(p),
			"expect.errors[0]: completions of the client's send queue with "+x.status+": expected 1, got 0")
	}
}

// Packets lost in cables are retransmitted on RC. On UC and UD their messages are lost, and a number of lost messages
// outside the scenario's bounds is a finding.
func TestLoss(t *testing.T) {
	text := onRNICs + "faults: {wire: {seed: 4, chances: {loss: 0.05}}}\nworkload: {count: 100, transport: "
	p, err := caseOf(t, text+"rc}").Play(t.Context(), Options{})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	for _, transport := range []string{"uc", "ud"} {
		p, err = caseOf(t, text+transport+"}\nexpect: {lost: {at_least: 1, at_most: 20}}").Play(t.Context(), Options{})
		require.NoError(t, err)
		require.True(t, p.Pass(), texts(p))
		require.NotZero(t, p.Result.Lost)
		p, err = caseOf(t, text+transport+"}\nexpect: {lost: {at_most: 1}}").Play(t.Context(), Options{})
		require.NoError(t, err)
		require.Contains(t, texts(p), "expect.lost: messages that were lost: expected 0 to 1")
	}
}

// A workload that a stack does not support gives a usage error.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"workload: {pieces: 2}":        "max_send_sge is 2",
		"workload: {invalidate: true}": "SEND_WITH_INV: the device lacks it",
		"workload: {ports: 2}": "test.yaml:5: workload: verbs: apps: EINVAL: server Server[0] has 1 ports: want " +
			"ports 1 or less",
		"workload: {kind: write, sizes: [1048576], count: 999}": "of memory on a server",
	} {
		p, err := caseOf(t, onRNICs+text).Play(t.Context(), Options{})
		require.ErrorContains(t, err, want)
		require.NotNil(t, p)
		require.ErrorAs(t, err, new(*UsageError))
	}
}

// Applications allocate nothing in steady state. WRITE and READ are left out: they keep touching new memory, for which
// caches allocate.
func TestNoAllocations(t *testing.T) {
	for _, kind := range []string{"send", "echo", "reflector", "atomics, sizes: [8]"} {
		c := caseOf(t,
			onRNICs+"workload: {queue_pairs: 4, both_ways: true, count: 4000, signal_every: 2, kind: "+kind+"}")
		w, err := newWorld(t.Context(), c, &Options{})
		require.NoError(t, err)
		run, err := workload.NewGroup(w.workloads, w.opener())
		require.NoError(t, err)
		require.NoError(t, errors.Join(run.Prepare(), w.settle("receives"), run.Begin(w.engine.Now())))
		require.NoError(t, w.engine.RunUntil(w.engine.Now()+400*simcore.Microsecond))
		before := run.Progress()
		require.Zero(t, testing.AllocsPerRun(5, func() {
			if w.engine.RunUntil(w.engine.Now()+20*simcore.Microsecond) != nil {
				panic("the run ended")
			}
		}), kind)
		require.Greater(t, run.Progress(), before+100)
		require.NoError(t, w.close())
	}
}
