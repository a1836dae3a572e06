package host

import "fmt"

// ContractError tells that the NIC did what the contract forbids, as software and endpoints see it. The referee says
// more about what it sees at the ports; this is for what keeps a run from going on.
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
