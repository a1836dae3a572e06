package kind

// WriteImm is like Write with immediate data, which completes a receive request of the server.
const WriteImm Name = "write_imm"

type writeImm struct{ plain }

func (writeImm) Name() Name              { return WriteImm }
func (writeImm) Traits() Traits          { return Traits{Receives: true} }
func (writeImm) Transports() []Transport { return []Transport{RC, UC} }
func (writeImm) Options() []Option {
	return []Option{Inline, SharedReceive, CloseEvery, Reused, Misuse}
}
