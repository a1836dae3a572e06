package result

import (
	"fmt"
	"strings"
)

// Kind classifies a failure, so that the user knows where to look: at the device, the applications or the machine. Most
// mismatches and all usage errors have none.
type Kind string

// Kinds of failure.
const (
	Crash       Kind = "crash"
	Hang        Kind = "hang"
	Stall       Kind = "stall"
	Deadlock    Kind = "deadlock"
	OutOfMemory Kind = "memory"
	DiskFull    Kind = "disk"
	WallLimit   Kind = "wall_limit"
	BySignal    Kind = "interrupted"
)

// Kinds lists all kinds of failure: the table in docs/results.md.
var Kinds = []struct {
	Kind Kind
	What string // what it means
	Look string // what to look at
}{
	{Crash, "the device's process, or another that the run needs, died or stopped itself",
		"`error`: exit status and last words, as of a signal, `$fatal`, `$finish` or a failed assertion; `--wave`"},
	{Hang, "the device simulates on, but makes no progress, with work outstanding",
		"the first finding, which names queue and entry; `events.jsonl` from its `cycle` back"},
	{Stall, "the device's process, or the other one of `pair`, sends no answer",
		"loops without time in the design, a process that is stopped, the machine or network of `--connect`"},
	{Deadlock, "the software waits for what never comes, and no NIC hangs",
		"the first finding: what the applications wait for; limits, faults and expectations of the scenario"},
	{OutOfMemory, "nictwin, the device or a tool got no memory, or the limit on it is too low",
		"the limit that `error` names, `ulimit -v`, memories of the design, `--jobs`"},
	{DiskFull, "something could not be written: disk, quota or limit on file sizes",
		"the file that `error` names; `--artifact-mb` makes artifacts smaller"},
	{WallLimit, "the run reached `--wall-limit`",
		"the last heartbeat: how far it came, and whether anything moved"},
	{BySignal, "a signal ended the run", "who sent it: a person, or the time limit of a pipeline"},
}

// Text describes a kind of failure in one line; "" for none.
func (k Kind) Text() string {
	for _, x := range Kinds {
		if x.Kind == k {
			return fmt.Sprintf("%s: %s", k, strings.ReplaceAll(x.What, "`", ""))
		}
	}
	return ""
}
