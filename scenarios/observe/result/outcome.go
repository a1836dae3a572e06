package result

// Outcome is how a command ended.
type Outcome int

// Outcomes.
const (
	Pass           Outcome = iota
	Mismatch               // the device does not do what it must
	Usage                  // the command or its input is wrong
	Infrastructure         // it could not be found out
	Interrupted            // by a signal
)

var outcomes = [...]struct {
	exit int
	name string
}{
	Pass: {0, "pass"}, Mismatch: {1, "mismatch"}, Usage: {2, "usage"}, Infrastructure: {3, "infrastructure"},
	Interrupted: {130, "interrupted"},
}

// Exit is the exit code.
func (o Outcome) Exit() int { return outcomes[o].exit }

// String is the name of the outcome in the JSON object.
func (o Outcome) String() string { return outcomes[o].name }
