package boundary

import "fmt"

// ContractError reports that a NIC violated the contract in a way that its environment cannot
// continue from. The referee says more about the violation.
type ContractError struct {
	Rule string // of docs/nic.md
	What string
}

var _ error = (*ContractError)(nil)

func (e *ContractError) Error() string { return fmt.Sprintf("the NIC breaks [%s]: %s", e.Rule, e.What) }

// Breach returns a *ContractError.
func Breach(rule, format string, args ...any) error {
	return &ContractError{Rule: rule, What: fmt.Sprintf(format, args...)}
}
