package simcore_test

import (
	"fmt"

	"nictwin/models/sim/simcore"
)

type ping struct {
	simcore.Msg
	n int
}

// Two components that work in clock cycles, and a link with 150 ns of latency.
func Example() {
	e := simcore.NewEngine()
	var out, in *simcore.Port

	sent := 0
	a := simcore.NewTickingComponent("A", e, simcore.Freq{}, func(now simcore.Ps) (bool, error) {
		if sent == 3 || !out.CanSend() {
			return false, nil // sleeps until a credit or a message comes
		}
		m := &ping{n: sent}
		m.TrafficBytes = 64
		out.SendAt(m, now)
		sent++
		return true, nil
	})
	b := simcore.NewTickingComponent("B", e, simcore.Freq{}, func(now simcore.Ps) (bool, error) {
		msg := in.Retrieve(now.Sec())
		if msg == nil {
			return false, nil
		}
		m := msg.(*ping)
		fmt.Printf("%v: message %d, which arrived at %v\n", now, m.n, m.Arrive)
		return true, nil
	})
	out, in = simcore.NewPort(a, 4, "A.Out"), simcore.NewPort(b, 4, "B.In")
	spec := simcore.LinkSpec{Latency: 150 * simcore.Nanosecond, Rate: simcore.Gbps(200), Credits: 2}
	if _, err := simcore.Connect("Link", e, spec, out, in); err != nil {
		fmt.Println(err)
		return
	}
	a.TickLater()
	if err := e.Run(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 157500 ps: message 0, which arrived at 155060 ps
	// 160000 ps: message 1, which arrived at 157620 ps
	// 315000 ps: message 2, which arrived at 312560 ps
}
