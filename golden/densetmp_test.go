package golden

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

func TestDenseTmp(t *testing.T) {
	lo, _ := strconv.Atoi(os.Getenv("LO"))
	hi, _ := strconv.Atoi(os.Getenv("HI"))
	bad := 0
	for seed := uint64(lo); seed < uint64(hi); seed++ {
		o := chaosOpt{steps: 300, dense: os.Getenv("FEW") == "", few: os.Getenv("FEW") != "", seed: seed, faults: seed%8 != 0, config: seed&2 != 0, queues: seed&4 != 0, stall: int(seed) / 8 % 3 * 30, pushes: seed%5 == 0, copies: seed%3 == 0 && os.Getenv("NOCOPY") == ""}
		c := newChaos(t, o)
		c.run()
		p := judgeHeld(t, c.config(), c.r.tape, c.r.held)
		if !p.Passed() {
			bad++
			fmt.Printf("seed %d: %.200v %v\n", seed, p.List[0], p.Limits)
		} else if len(p.Limits) > 0 {
			fmt.Println("seed", seed, p.Limits)
		}
	}
	fmt.Println("bad", bad)
}
