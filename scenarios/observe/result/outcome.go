package result

// Outcome says how a command ended.
type Outcome int

// Ways in which a command can end.
const (
	Pass           Outcome = iota
	Mismatch               // the device breaks the contract or differs from its reference
	Usage                  // the command or its input is wrong
	Infrastructure         // the outcome could not be determined
	Interrupted            // by a signal
)

type outcome struct {
	exit int
	name string
}

var outcomes = [...]outcome{
	Pass: {0, "pass"}, Mismatch: {1, "mismatch"}, Usage: {2, "usage"}, Infrastructure: {3, "infrastructure"},
	Interrupted: {130, "interrupted"},
}

// Exit returns the exit code.
func (o Outcome) Exit() int { return outcomes[o].exit }

// String returns the outcome's name in the JSON object.
func (o Outcome) String() string { return outcomes[o].name }
