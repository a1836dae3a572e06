package verbstest

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestContract checks that the fake device, which has every feature, passes.
func TestContract(t *testing.T) {
	RunContract(t, "fake", func(*testing.T) *Bench { return newFake("") })
}

// recorder is a tester that records the first failure.
type recorder struct{ wrong string }

func (r *recorder) Errorf(format string, args ...any) { r.wrong += fmt.Sprintf(format, args...) }
func (r *recorder) FailNow()                          { runtime.Goexit() }
func (r *recorder) Helper()                           {}

// TestContractFindsBrokenDevices checks that each seeded fault of a device makes its check fail.
func TestContractFindsBrokenDevices(t *testing.T) {
	foundBy := map[string]string{
		"any port": "query", "ends twice": "query", "PD in use": "lifetimes", "any transition": "states",
		"position":     "refused",
		"inline later": "inline", "no fence": "fence", "no local keys": "local_keys", "no remote keys": "remote_keys",
		"keys live on":  "local_keys",
		"no sq_sig_all": "unsignalled", "all signalled": "unsignalled", "no flush": "flush",
		"errors leave RTS":      "flush",
		"receives out of order": "shared_receive", "a byte too many": "operations", "always swaps": "operations",
		"any AH":    "datagrams",
		"any Q_Key": "datagrams", "no events": "overrun", "solicited is any": "notify", "always events": "notify",
		"forgets to flush": "to_error",
		"attributes lost":  "states", "no SRQ limit": "shared_receive", "no room": "full",
		"slow for low latency": "low_latency",
	}
	for how, name := range foundBy {
		found := false
		for _, c := range checks {
			if c.name != name {
				continue
			}
			r := new(recorder)
			done := make(chan bool)
			go func() {
				defer close(done)
				check(r, c.run, newFake(how))
			}()
			<-done
			found = r.wrong != ""
		}
		require.True(t, found, "%q passes %s", how, name)
	}
}
