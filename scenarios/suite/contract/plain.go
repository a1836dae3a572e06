package contract

// Reasons for which a check runs on the plain board only.
const (
	notCarried = "it sends TLPs that no PCIe link or switch carries to the NIC, or answers of other sizes than a " +
		"link allows"
	rate      = "it counts cycles in which reads are answered at once, from one link away"
	exactTime = "it holds a time to the cycle, from when a frame or a write is sent one link away"
	timeOut   = "its reads are answered within the shortest time-out only from one link away"
)

// plainOnly names the checks that run only on the plain board, where reads are answered at once,
// each with its reason. Their rules are still checked on cards: the referee checks them on any
// board.
var plainOnly = map[string]string{
	"registers/order of answers":                      notCarried,
	"registers/shapes of reads":                       notCarried,
	"registers/requests elsewhere":                    notCarried,
	"registers/requests that are not memory requests": notCarried,
	"registers/requests of every type":                notCarried,
	"registers/poisoned requests":                     notCarried,
	"registers/completions for nobody":                notCarried,
	"transmit errors/completions by hand":             notCarried,

	"ports/overflow of one port":                            rate,
	"transmit errors/timeouts while completions never stop": rate,
	"copy/rate":                         rate,
	"copy/channels":                     rate,
	"fence/other queues go on":          rate,
	"ports/one held, the other goes on": rate,
	"ports/one held, classes and queues that change ports": rate,
	"ports/one held, entries that send nothing":            rate,

	"drops/disabled, runt, oversize":                        exactTime,
	"pause/stops of classes":                                exactTime,
	"pause/a queue that is enabled in a stop of its class":  exactTime,
	"pause/stops of classes that follow one another":        exactTime,
	"messages/by time of the oldest":                        exactTime,
	"messages/STATUS does not show what waits for its time": exactTime,

	"long entries/reads of pieces that fail": timeOut,
}
