package boundary

import "fmt"

// ContractError reports that a NIC violated the contract in a way that its environment cannot
// continue from. The referee says more about the violation.
type ContractError struct {
	Rule string // rule of docs/nic.md that was violated, such as R8
	What string // what the NIC did, and what the rule demands
}

var _ error = (*ContractError)(nil)

func (e *ContractError) Error() string { return fmt.Sprintf("the NIC breaks [%s]: %s", e.Rule, e.What) }

// Breach returns a *ContractError for a rule, with a formatted text.
func Breach(rule, format string, args ...any) error {
	return &ContractError{Rule: rule, What: fmt.Sprintf(format, args...)}
}
