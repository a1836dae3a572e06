package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nictwin/models/sim/field"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/run"
)

// remotes reads the tokens of devices of kind address. Such a device serves a single session, so two cases with one
// device are an error.
func (s *Scenarios) remotes(ctx context.Context) error {
	s.tokens = map[string]string{}
	var errs []error
	taken := map[string]*run.Case{} // case that uses a device, by address
	for _, c := range s.cases {
		for _, nic := range s.nics(c) {
			for _, r := range c.Remotes(&run.Options{NIC: nic}) {
				if first := taken[r.Address]; first != nil {
					return c.Locate(field.Errorf(r.Path+".address",
						"%q: cases %s and %s would both have this device, and a device serves one session: want one "+
							"of them, by --only", r.Address, first.Name, c.Name))
				}
				taken[r.Address] = c
				if _, known := s.tokens[r.TokenFile]; known {
					continue
				}
				token, err := tokenIn(ctx, r.TokenFile)
				if err != nil {
					err = c.Locate(field.Errorf(r.Path+".token_file", ": %w", err))
				}
				s.tokens[r.TokenFile], errs = token, append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// captures reads the captures that the cases play, so that a damaged one is reported before the run.
func (s *Scenarios) captures(ctx context.Context) error {
	for _, c := range s.cases {
		if err := c.CheckCaptures(ctx); err != nil {
			return err
		}
	}
	return nil
}

// dut finds and reads the manifests of RTL devices, so that their faults are reported before the run.
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
			if err := c.CheckDUTs(&run.Options{NIC: nic, Resolve: resolve}); err != nil {
				return err
			}
			if found || !c.NeedsRTL(&run.Options{NIC: nic}) {
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

// linked refuses --link if no case has a device that it leads to.
func (s *Scenarios) linked() error {
	if s.LinkText == "" || len(s.cases) == 0 || slices.ContainsFunc(s.cases, func(c *run.Case) bool {
		return slices.ContainsFunc(s.nics(c), func(nic string) bool { return c.NeedsRTL(&run.Options{NIC: nic}) })
	}) {
		return nil
	}
	return fmt.Errorf("--link %s: no case has an RTL device that is started here: want --nic rtl, or leave it out",
		s.LinkText)
}
