package program

import (
	"encoding/json"
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/shell/files"
)

// Schema is the version of the file format of programs.
const Schema = 1

// Program is what is played: the board, then the operations one after the other.
type Program struct {
	Schema int    `json:"schema"`
	Seed   uint64 `json:"seed"` // that it was derived from, for people
	Board  Board  `json:"board"`
	Ops    []Op   `json:"ops"`
}

// Board is everything around the NIC.
type Board struct {
	Ports   int    `json:"ports"`
	Build   string `json:"build,omitempty"`    // sizes of the NIC, see SizesOf
	EthBits int    `json:"eth_bits,omitempty"` // of the stream of a port; 0: as the NIC has it
	Stall   int    `json:"stall,omitempty"`    // percent of cycles with gaps and back-pressure
	// gaps and back-pressure last 2^burst cycles at a time, but for TLPs into the NIC
	Burst  int    `json:"burst,omitempty"`
	Seed   uint64 `json:"seed,omitempty"`    // of stalls, jitter and random completions
	MPS    int    `json:"mps"`               // of completions, bytes
	RCB    int    `json:"rcb"`               // bytes
	Random bool   `json:"random,omitempty"`  // completions are split at random
	Jitter int    `json:"jitter,omitempty"`  // ns, by which reads are shuffled
	Delay  int    `json:"delay,omitempty"`   // ns from a read to its first completion
	HostAt uint64 `json:"host_at,omitempty"` // offset in host memory from which on it is used; 0: 8 GB
	ArmAt  uint64 `json:"arm_at,omitempty"`  // likewise in Arm memory above 4 GB
	// TLPs in flight on a link of a plain card, each way; 0: as many as there are
	Credits int `json:"credits,omitempty"`
	// preset or file of the board whose card the NIC stands on; empty: a plain one
	Card string `json:"card,omitempty"`
}

// Error says what is wrong with a program.
type Error struct {
	Op   int    // its number, or -1
	Kind string // of the operation, such as rx_queue; empty if it has none, or several
	What string
}

func (e *Error) Error() string {
	if e.Op < 0 {
		return "program: " + e.What
	}
	if e.Kind == "" {
		return fmt.Sprintf("program: operation %d: %s", e.Op, e.What)
	}
	return fmt.Sprintf("program: operation %d (%s): %s", e.Op, e.Kind, e.What)
}

// maxProgram is in bytes: more than the generator's largest many times over.
const maxProgram = 16 << 20

// Load reads a program from a file.
func Load(path string) (*Program, error) {
	text, err := files.Read(path, maxProgram)
	if err != nil {
		return nil, err
	}
	p, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// JSON is the program as text.
func (p *Program) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	return append(b, '\n'), nil
}

// Validate returns everything that is wrong.
func (p *Program) Validate() error {
	v := validator{op: -1}
	v.board(p)
	for i := range p.Ops {
		v.at(i, &p.Ops[i])
		v.check(&p.Ops[i])
	}
	return errors.Join(v.errs...)
}

// board looks at everything but the operations.
func (v *validator) board(p *Program) {
	v.is(p.Schema == Schema, "schema %d: want %d", p.Schema, Schema)
	v.in("board.ports", p.Board.Ports, 1, board.MaxPorts)
	_, err := SizesOf(p.Board.Build)
	v.is(err == nil, "board: %v", err)
	v.is(p.Board.EthBits == 0 || nicspec.ValidEthBits(p.Board.EthBits), "board.eth_bits %d: want %s", p.Board.EthBits,
		nicspec.WantEthBits)
	v.in("board.stall", p.Board.Stall, 0, board.MaxStall)
	v.in("board.burst", p.Board.Burst, 0, board.MaxBurst)
	for _, f := range []struct {
		name   string
		x      int
		limits tlp.Limits // as after a reset, but for x
		want   string
	}{
		{"mps", p.Board.MPS, tlp.Limits{MPS: p.Board.MPS, MRRS: 512, RCB: 64}, "128, 256, 512, 1024, 2048 or 4096"},
		{"rcb", p.Board.RCB, tlp.Limits{MPS: 128, MRRS: 512, RCB: p.Board.RCB}, "64 or 128"},
	} {
		v.is(f.limits.Validate() == nil, "board.%s is %d: want %s", f.name, f.x, f.want)
	}
	v.in("board.jitter", p.Board.Jitter, 0, 10_000)
	v.in("board.delay", p.Board.Delay, 0, 10_000)
	v.in("board.credits", p.Board.Credits, 0, maxCredits)
	v.offset("board.host_at", p.Board.HostAt)
	v.offset("board.arm_at", p.Board.ArmAt)
	v.in("operations", len(p.Ops), 0, maxOps)
}
