package nicspec

// NewTblCmd is the value of TBL_CMD that starts a command: the entry's index, its table, and what is done with it [G6].
func NewTblCmd(op TableOp, t Table, index int) TblCmdReg {
	var c TblCmdReg
	c.SetIndex(uint32(index))
	c.SetTable(uint32(t))
	c.SetOp(uint32(op))
	return c
}
