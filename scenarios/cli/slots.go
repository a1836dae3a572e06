package cli

import (
	"nictwin/scenarios/device"
	"nictwin/scenarios/runner"
)

// dut finds the manifests, which only RTL devices have, and reads them once to report their faults early.
func (s *Scenarios) dut() error {
	known, found := map[string]error{}, false
	resolve := func(dut string) (string, error) {
		err, ok := known[dut]
		if !ok {
			_, err = s.sized(dut, device.Eth{})
			known[dut] = err
		}
		return dut, err
	}
	for _, c := range s.cases {
		for _, nic := range s.nics(c) {
			if err := c.CheckDUTs(&runner.Options{NIC: nic, Resolve: resolve}); err != nil {
				return err
			}
			if found || !c.NeedsRTL(&runner.Options{NIC: nic}) {
				continue
			}
			path, err := s.nic(s.DUT, device.Eth{})
			if err != nil {
				return err
			}
			s.DUT, found = path, true
		}
	}
	return nil
}
