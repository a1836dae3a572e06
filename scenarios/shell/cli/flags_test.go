package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/sim/field"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/replay"
)

// Errors about fields name the flag that sets the field, however they are wrapped, and keep their type.
func TestErrorsNameFlags(t *testing.T) {
	s := testbed.Spec{Spec: device.Spec{NIC: "fpga", EthBits: 100, Connect: "tcp:x"}, Stall: 95, LinkCycles: 1}
	e := board.DefaultEndpoint()
	e.Tags, s.Endpoint = 0, &e
	fields := s.Validate()
	require.EqualError(t, fields, `nic "fpga": want rtl or model
eth_bits 100: want 256, 512 or 1024
connect tcp:x: a device that runs elsewhere is nic rtl
token of the device at tcp:x: want 64 hexadecimal digits
stall 95: want 0 to 90 percent
endpoint.tags 0: want 1 to 256`)
	err := withFlags(&UsageError{errors.Join(io.EOF, &replay.UsageError{Err: fields},
		fmt.Errorf("last: %w", field.Errorf("pace", ": none")))})
	require.EqualError(t, err, `EOF
--nic "fpga": want rtl or model
--eth-bits 100: want 256, 512 or 1024
--connect tcp:x: a device that runs elsewhere is --nic rtl
token of the device at tcp:x: want 64 hexadecimal digits
--stall 95: want 0 to 90 percent
endpoint.tags 0: want 1 to 256
last: --speed: none`)
	require.Equal(t, result.Usage, Decide(context.Background(), err, false))
	require.ErrorIs(t, err, io.EOF)
	var first *field.Error
	require.ErrorAs(t, err, &first)
	require.Equal(t, field.Path("nic"), first.Path)
}

// An error about a field without a flag stays unchanged.
func TestOtherErrorsStay(t *testing.T) {
	require.NoError(t, withFlags(nil))
	for _, err := range []error{io.EOF, errors.Join(io.EOF, io.ErrNoProgress),
		field.Errorf("cards[0].ports", "3: want 1 to 2")} {
		require.Equal(t, err, withFlags(err))
	}
}
