package kind

// Read is the kind of RDMA_READs of the server's memory.
const Read Name = "read"

type read struct{ plain }

func (read) Name() Name              { return Read }
func (read) Traits() Traits          { return Traits{} }
func (read) Transports() []Transport { return []Transport{RC, Solar} }
func (read) Options() []Option       { return []Option{Reused, Misuse} }
