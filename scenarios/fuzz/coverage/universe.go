package coverage

import (
	"fmt"
	"slices"
	"strings"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// Universe lists every bin of a build.
type Universe struct {
	sizes  nicspec.Build
	groups []group
	index  map[string]bool
}

type group struct {
	name string
	bins []string
}

func (u *Universe) add(name string, lists ...[]string) {
	u.groups = append(u.groups, group{name, cross(lists...)})
}

func (u *Universe) has(group, bin string) bool { return u.index[group+"\n"+bin] }

// Parts of bin names that many groups share.
var (
	stallWords     = []string{StallClass(0), StallClass(20), StallClass(60)}
	alignWords     = []string{"64 B", "4 B", "odd"}
	splitWords     = []string{"split None", "split Fixed", "split Headers"}
	directionWords = []string{Direction(false), Direction(true)}
	portWords      = []string{"port 0", "port 1"}
	whichWords     = []string{"first", "between", "last"}
	ringWords      = cross(append(names("%d entries", 4, 8, 16), LogClass(5)), []string{"lap 1", "lap 2", "later lap"})
	mpsWords       = names("MPS %d", 128, 256, 512)
	mrrsWords      = names("MRRS %d", 128, 256, 512, 1024, 2048, 4096)
	pageWords      = []string{"in a page", "in 2 pages", "in 3 pages"}
	cplWords       = []string{"CplUnsupported", "CplAbort", "CplPoison", "CplTimeout", "CplMalformed"}
)

func lengthWords(from int) []string {
	var all []string
	for _, l := range Lengths[from:] {
		all = append(all, l.Name)
	}
	return all
}

// NewUniverse lists the bins of a build with one or two ports.
func NewUniverse(sizes nicspec.Build) *Universe {
	u := &Universe{sizes: sizes, index: map[string]bool{}}
	u.receive()
	u.transmit()
	u.pcie()
	u.control()
	u.parts()
	u.revision2()
	u.fills()
	u.situations()
	for _, g := range u.groups {
		for _, bin := range g.bins {
			u.index[g.name+"\n"+bin] = true
		}
	}
	return u
}

func (u *Universe) receive() {
	u.add("receive", splitWords, lengthWords(1), stallWords)
	u.groups = append(u.groups, group{"receive buffers", append(
		cross([]string{"header"}, splitWords[1:], alignWords, RegionNames[:]),
		cross([]string{"payload"}, splitWords, alignWords, RegionNames[:])...)})
	u.groups = append(u.groups, group{"receive pages", append(cross(pageWords, mpsWords), "no payload")})
	u.add("receive rings", ringWords)
	u.add("receive queues", whichWords, portWords)
	u.add("rules", append(whichWords[:3:3], "none"))
	actions := []string{"Drop", "Queue"}
	if u.sizes.Has(nicspec.PartRss) {
		actions = append(actions, "Rss")
	}
	u.add("rules made invalid", actions, []string{"another instead", "no rule instead"})
	u.groups = append(u.groups, group{"UDP sums of zero", append(cross([]string{"received"}, []string{"Ok", "Bad"}),
		cross([]string{"sent"}, []string{"UDP", "RoCE"})...)})
	u.groups = append(u.groups, group{"headers", append(cross(names("%d tags", 0, 1, 2), []string{"None × None"}),
		cross(names("%d tags", 0, 1, 2), []string{"Ipv4", "Ipv6"}, []string{"None", "Udp", "Tcp", "RoCE"})...)})
	verdicts := []string{"NotChecked", "Ok", "Bad"}
	of := func(what string) (all []string) {
		for _, v := range verdicts {
			all = append(all, what+" "+v)
		}
		return all
	}
	u.add("checks", of("IP"), of("L4"), of("ICRC"))
	u.add("lengths that lie", []string{"Ipv4", "Ipv6"}, []string{Truth("IP", false), Truth("IP", true)},
		[]string{Truth("UDP", false), Truth("UDP", true)})
	u.add("IPv4 headers", names("%d words", 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
	u.add("fragments", []string{"None", "Udp", "Tcp", "RoCE"})
	ops := []string{"other"}
	for _, op := range Extended {
		ops = append(ops, OpcodeName(op))
	}
	u.add("RoCE opcodes", ops)
}

func (u *Universe) transmit() {
	errs := []string{"Ok", "BadFormat", "BadLength", "BadKey", "KeyRights", "KeyBounds", "BadOffload"}
	u.groups = append(u.groups, group{"work entries", slices.Concat(
		cross([]string{"Send"}, append(errs, cplWords...), stallWords),
		cross([]string{"Nop"}, []string{"Ok"}, stallWords),
		cross([]string{"other"}, []string{"BadOpcode"}, stallWords))})
	u.add("completions unasked", append(errs[1:], cplWords...))
	var shapes []string
	for _, s := range []struct {
		inline string
		pieces []int
	}{{"nothing inline", []int{1, 2, 3}}, {"1..16 B inline", []int{1, 2}}, {"17..32 B inline", []int{1}}} {
		shapes = append(shapes, cross(names("%d pieces", s.pieces...), []string{s.inline})...)
	}
	whole := cross(lengthWords(0)[:1],
		cross([]string{"0 pieces"}, []string{"1..16 B inline", "17..32 B inline", "33..48 B inline"}), stallWords)
	u.groups = append(u.groups, group{"transmit", append(whole, cross(lengthWords(0), shapes, stallWords)...)})
	u.add("pieces", []string{"1..3 B", "4..63 B", "64..511 B", "512..4095 B", "4096 B and more"}, alignWords,
		RegionNames[:])
	u.add("piece pages", pageWords, mrrsWords)
	u.add("offloads", []string{"IP false", "IP true"}, []string{"UDP no", "UDP sum", "UDP zero"},
		[]string{"ICRC false", "ICRC true"},
		[]string{"Ok", "BadOffload"})
	u.add("transmit rings", ringWords)
	u.add("transmit queues", whichWords)
	u.add("transmit ports", portWords)
}

func (u *Universe) pcie() {
	sizes := []string{"up to 4 B", "up to 64 B", "up to 128 B", "up to 256 B", "up to 512 B"}
	headers := []string{"3 DW", "4 DW"}
	u.add("writes sent", sizes, headers)
	u.add("reads sent", append(sizes, "up to 1024 B", "up to 2048 B", "up to 4096 B"), headers)
	u.add("limits", mpsWords, mrrsWords)
	u.add("completions", []string{"128 B", "256 B", "512 B", "4096 B"}, []string{"RCB 64", "RCB 128"},
		[]string{"longest", "random"}, []string{"in order", "shuffled"})
	var kinds []string
	for k := range inject.NumFaults {
		kinds = append(kinds, inject.FaultKind(k).String())
	}
	u.add("faults", kinds, []string{program.OfRxRing, program.OfTxRing, program.OfMemory})
	u.add("events", directionWords, cplWords, stallWords)
	u.add("answers", []string{"SC", "UR"})
	taken := []string{"completion for another requester", "completion, poisoned", "completion, CplD", "completion, Cpl"}
	for _, s := range []string{"UR", "CRS", "CA", "Status(3)", "Status(5)", "Status(6)", "Status(7)"} {
		taken = append(taken, "completion with status "+s)
	}
	for _, what := range []string{"read", "write"} {
		for _, shape := range []string{"of 1 DWs", "of 2 DWs", "of 2 DWs, not aligned", "of some bytes",
			"of more than 2 DWs"} {
			taken = append(taken, fmt.Sprintf("register %s %s", what, shape))
		}
	}
	taken = append(taken, "MRd, poisoned", "MRd, elsewhere, 3 DW", "MRd, elsewhere, 4 DW", "MWr, poisoned",
		"MWr, elsewhere, 3 DW", "MWr, elsewhere, 4 DW")
	for _, n := range OtherNames {
		taken = append(taken, n, n+", poisoned")
	}
	slices.Sort(taken)
	u.add("TLPs taken", slices.Compact(taken))
}

func (u *Universe) control() {
	var regs []string
	for i := range nicspec.Registers {
		regs = append(regs, nicspec.Registers[i].Name)
	}
	u.add("registers", regs, []string{"read", "write"})
	var commands []string
	for t := range nicspec.TablePortCfg + 1 {
		commands = append(commands, u.commands(t)...)
	}
	commands = append(commands, "no table × Write × BadTable", "no table × Read × BadTable", "no table × other × BadOp")
	u.add("table commands", commands)
	u.add("disabling", directionWords, []string{"idle", "with entries", "in error"})
	u.groups = append(u.groups,
		group{"doorbells",
			append(cross(directionWords, []string{"queue off", "queue in error", "same index", "back", "too far",
				"beyond the build"}), "receive × overfull")})
	var counters []string
	for i := range nicspec.Counters {
		c := &nicspec.Counters[i]
		switch {
		case !u.sizes.Has(c.Part):
		case c.PerPort:
			counters = append(counters, cross([]string{c.Name}, portWords)...)
		default:
			counters = append(counters, c.Name+" × device")
		}
	}
	u.add("counters", counters)
}

// commands returns the ways in which commands for a table can end [G6].
func (u *Universe) commands(t nicspec.Table) []string {
	part := map[nicspec.Table]nicspec.Cap1Reg{nicspec.TableIndirection: nicspec.PartRss,
		nicspec.TableAccount: nicspec.PartAccounts,
		nicspec.TablePortCfg: nicspec.PartPause}[t]
	name := t.String()
	if !u.sizes.Has(part) {
		return []string{name + " × Write × NotBuilt", name + " × Read × NotBuilt", name + " × other × BadOp"}
	}
	all := []string{name + " × other × BadOp"}
	for _, s := range []string{"Write × Ok", "Write × BadIndex", "Write × BadValue", "Read × Ok", "Read × BadIndex"} {
		all = append(all, name+" × "+s)
	}
	if t == nicspec.TableRxq || t == nicspec.TableTxq {
		all = append(all, name+" × Write × Enabled")
	}
	lacks := func(p nicspec.Cap1Reg) bool { return !u.sizes.Has(p) }
	if t == nicspec.TableRxq && (lacks(nicspec.PartMsix) || lacks(nicspec.PartEcn) || lacks(nicspec.PartCrc32c)) ||
		t == nicspec.TableTxq && (lacks(nicspec.PartMsix) || lacks(nicspec.PartEcn) || lacks(nicspec.PartPause)) ||
		t == nicspec.TableRule && (lacks(nicspec.PartRss) || lacks(nicspec.PartAccounts)) {
		all = append(all, name+" × Write × NotBuilt")
	}
	return all
}

// parts adds the groups of optional parts of a build.
func (u *Universe) parts() {
	ip := []string{"Ipv4", "Ipv6"}
	if u.sizes.Has(nicspec.PartRss) {
		u.groups = append(u.groups,
			group{"RSS", append(cross(ip, []string{"None", "Udp", "Tcp"}, []string{"hash", "no hash"}),
				"None × None × no hash")})
	}
	if u.sizes.Has(nicspec.PartAccounts) {
		u.add("accounts", []string{"fast", "slow"})
	}
	if u.sizes.Has(nicspec.PartCrc32c) {
		u.add("CRC-32C received", []string{"mode Off", "mode Report", "mode Check"},
			[]string{"NotChecked", "Ok", "Bad"})
		u.add("CRC-32C sent", []string{"Ok", "BadOffload"})
	}
	if u.sizes.Has(nicspec.PartEcn) {
		u.add("ECN received", []string{"mode 0", "mode 1"}, ip, names("ECN %d", 0, 1, 2, 3))
	}
	if u.sizes.Has(nicspec.PartMsix) {
		u.add("messages", directionWords, []string{"each entry", "several entries"},
			[]string{"no time limit", "time limit"}, stallWords)
	}
	if u.sizes.Has(nicspec.PartPause) {
		u.add("pauses taken", ScopeWords, stopWords, portWords, loadWords)
		u.add("pauses not honoured", ModeWords, portWords)
		u.add("pauses sent", ModeWords, SentWords, portWords)
	}
	if u.sizes.Has(nicspec.PartFlr) {
		states := []string{"idle", "at work", FrameHangs}
		if u.sizes.Has(nicspec.PartCopy) {
			states = append(states, "a copy is cut off")
		}
		u.add("resets", states)
	}
	if u.sizes.Has(nicspec.PartPush) {
		how := []string{"pushed"}
		if u.sizes.Has(nicspec.PartLong) {
			how = append(how, "all blocks", "some blocks")
		}
		u.add("push", how)
	}
	if u.sizes.Has(nicspec.PartCopy) {
		statuses := append([]string{"Ok", "BadFormat", "BadLength", "BadKey", "KeyRights", "KeyBounds"}, cplWords...)
		u.groups = append(u.groups, group{"copies", slices.Concat(cross([]string{"Copy"}, statuses, stallWords),
			cross([]string{"CopyInvalidate"}, append(statuses, "BadRange"), stallWords),
			cross([]string{"Invalidate"}, append(statuses[:6:6], "BadRange"), stallWords))})
		u.add("copies after one that failed", cplWords, []string{"Copy", "Invalidate", "CopyInvalidate"})
		u.add("copied", []string{"1..3 B", "4..63 B", "64..511 B", "512..4095 B", "4096 B and more"},
			prefixed("from ", alignWords), prefixed("to ", alignWords))
	}
}

// revision2 adds the groups of revision 2 of the contract, and of rare events.
func (u *Universe) revision2() {
	if u.sizes.Has(nicspec.PartLong) {
		copies := []string{"other"}
		if u.sizes.Has(nicspec.PartCopy) {
			copies = append(copies, "Copy", "Invalidate", "CopyInvalidate")
		}
		u.groups = append(u.groups, group{"blocks", slices.Concat(cross([]string{"Nop"}, []string{"Ok"}, BlockWords),
			cross([]string{"Send"}, []string{"Ok", "failed"}, BlockWords),
			cross(copies, []string{"failed"}, BlockWords), cross(copies[1:], []string{"Ok"}, BlockWords[:1]))})
		u.add("entries that wrap", BlockWords[1:])
		u.groups = append(u.groups,
			group{"transmit, long",
				append(cross(InlineWords, PieceWords[1:], stallWords),
					cross(InlineWords[1:], PieceWords[:1], stallWords)...)})
		u.add("doorbells inside an entry", names("after %d blocks", 1, 2, 3))
	}
	if u.sizes.Has(nicspec.PartAppend) {
		u.groups = append(u.groups,
			group{"appended", append(cross([]string{"Ipv4", "Ipv6"}, PadWords), "BadFormat", "BadLength", "BadOffload",
				"another status")})
	}
	if u.sizes.Has(nicspec.PartFence | nicspec.PartCopy) {
		u.groups = append(u.groups,
			group{"fences", append(cross([]string{"Copy", "CopyInvalidate"}, []string{"Ok", "failed"}),
				"Invalidate × failed")})
	}
	if u.sizes.Has(nicspec.PartCopy) {
		u.add("lines", []string{"lines agree", "lines differ"},
			[]string{"1..3 B", "4..63 B", "64..511 B", "512..4095 B", "4096 B and more"})
	}
	if u.sizes.Has(nicspec.PartTrim) {
		u.groups = append(u.groups,
			group{"trimmed", append(cross(splitWords, PadWords), "RoCE placed whole", "another frame")})
	}
	u.add("shared buffers", []string{"rewritten"}, RegionNames[:])
	u.add("rare", RareWords)
}

func prefixed(by string, words []string) []string {
	var all []string
	for _, w := range words {
		all = append(all, by+w)
	}
	return all
}

// unreachable says why a bin cannot be hit; empty: it can.
func (u *Universe) unreachable(group, bin string) string {
	if u.sizes.Ports < 2 && strings.Contains(bin, "port 1") {
		return "the build has one port"
	}
	if u.sizes.NumRxq == nicspec.RxqMax && strings.HasSuffix(bin, "beyond the build") {
		return "there are no doorbells beyond the largest build"
	}
	for _, c := range cannot {
		if c.group == group && slices.Contains(c.bins, bin) {
			return c.why
		}
	}
	return ""
}

// cannot lists bins that no program can hit, with the reason.
var cannot = []struct {
	group, why string
	bins       []string
}{
	{"CRC-32C received", "[X4]: there is a verdict in mode Check only", []string{
		"mode Off × Ok", "mode Off × Bad", "mode Report × Ok", "mode Report × Bad",
	}},
}
