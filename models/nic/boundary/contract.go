package boundary

import "fmt"

// ContractError tells that a NIC did what the contract forbids, as whoever
// stands at its boundary noticed who cannot go on. The referee says more about
// what it sees there.
type ContractError struct {
	Rule string // of docs/nic.md
	What string
}

var _ error = (*ContractError)(nil)

func (e *ContractError) Error() string { return fmt.Sprintf("the NIC breaks [%s]: %s", e.Rule, e.What) }

// Breach makes a *ContractError.
func Breach(rule, format string, args ...any) error {
	return &ContractError{Rule: rule, What: fmt.Sprintf(format, args...)}
}
