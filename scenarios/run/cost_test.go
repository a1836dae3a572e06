package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/bed/device"
)

// Cost is higher on RTL, with more messages, and if stalls prevent skipping cycles.
func TestCostOrdersCases(t *testing.T) {
	withDatagrams(t)
	cost := func(nic, workload string) int64 { return caseOf(t, onArm+workload).Cost(&Options{NIC: nic}) }
	few := cost(device.Model, "workload: {count: 10}")
	many := cost(device.Model, "workload: {count: 10000}")
	long := cost(device.Model, "workload: {count: 10, sizes: [1000000]}")
	rtl := cost(device.RTL, "workload: {count: 10}")
	stalled := cost(device.RTL, "workload: {count: 10}\nfaults: {stall: 20}")
	require.Positive(t, few)
	require.Greater(t, many, few)
	require.Greater(t, long, few)
	require.Greater(t, rtl, few)
	require.Greater(t, stalled, rtl)
}
