package hostnet

import (
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// Resources hands out the numbered resources of a NIC, each once, in ascending order.
type Resources struct {
	build                    nicspec.Build
	rx, tx, rules, keys, acc int

	// Host is the memory key for all host memory of the node's driver, for reads and writes of the NIC.
	Host *driver.Key
}

// TakeRxQueue returns the number of an unused receive queue.
func (r *Resources) TakeRxQueue() (int, error) { return take(&r.rx, r.build.NumRxq, "receive queues") }

// TakeTxQueue returns the number of an unused transmit queue.
func (r *Resources) TakeTxQueue() (int, error) { return take(&r.tx, r.build.NumTxq, "transmit queues") }

// TakeRule returns the index of an unused steering rule. Rules taken earlier have precedence.
func (r *Resources) TakeRule() (int, error) {
	return take(&r.rules, r.build.NumRules, "steering rules")
}

// TakeKey returns the index of an unused memory key.
func (r *Resources) TakeKey() (int, error) { return take(&r.keys, r.build.NumKeys, "memory keys") }

// TakeAccount returns the number of an unused credit account.
func (r *Resources) TakeAccount() (int, error) {
	if !r.build.Has(nicspec.PartAccounts) {
		return 0, fmt.Errorf("credit accounts: want a NIC with part accounts, which this one lacks")
	}
	return take(&r.acc, nicspec.NumAccounts, "credit accounts")
}

func take(next *int, all int, what string) (int, error) {
	if *next == all {
		return 0, fmt.Errorf("%s: the NIC's %d are in use: want fewer flows, or a build with more", what, all)
	}
	*next++
	return *next - 1, nil
}
