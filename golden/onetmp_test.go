package golden

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

func TestOneTmp(t *testing.T) {
	s, _ := strconv.Atoi(os.Getenv("SEED"))
	seed := uint64(s)
	o := chaosOpt{steps: 300, dense: false, few: true, seed: seed, faults: seed%8 != 0, config: seed&2 != 0, queues: seed&4 != 0, stall: int(seed) / 8 % 3 * 30, pushes: seed%5 == 0, copies: seed%3 == 0 && os.Getenv("NOCOPY") == ""}
	c := newChaos(t, o)
	c.run()
	cfg := c.config()
	p := judgeHeld(t, cfg, c.r.tape, c.r.held)
	fmt.Println("spec", c.r.opt.spec.Timing.TxInFlight, c.r.opt.spec.Timing.Tags)
	for i, m := range p.List {
		if i < 2 {
			fmt.Printf("%v\n", m)
		}
	}
}
