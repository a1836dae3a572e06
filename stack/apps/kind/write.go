package kind

// Write is the kind of RDMA_WRITEs, each message to a place of its own in the server's memory.
const Write Name = "write"

type write struct{ plain }

func (write) Name() Name              { return Write }
func (write) Traits() Traits          { return Traits{} }
func (write) Transports() []Transport { return []Transport{RC, UC, Solar} }
func (write) Options() []Option       { return []Option{Inline, Reused, Misuse} }
