// Package ceio has the experiments about CEIO (CE) and its rivals, on the server of its testbed and clients on a
// switch, in scenarios as nictwin run plays them.
//
//	mixes        CPU-involved beside CPU-bypass flows, in three shares (Table 4)
//	static       eight flows of one kind, by packet size (Fig. 9, Table 2)
//	dynamic      flows that change from phase to phase, and bursts (Fig. 4, 10)
//	single       one flow on the fast or the slow path (Fig. 11)
//	unloaded     one message at a time on either path, and as an RDMA WRITE (Table 3)
//	perftest     one flow of RDMA WRITEs (Fig. 11)
//	verbs        eight flows of echoes over RDMA (Fig. 9, Table 2)
//	scale        sixteen active flows among many (Fig. 12)
//	release      credits that return after batches of messages (section 4.1)
//	index        two kinds of cache index
//	controllers  credits counted by the NIC, and by a core of the card
//	limits       the shortest frames (section 6.3)
//	jumbo        the longest frames (section 6.3)
//
// CPU-involved flows are those of a key-value store, CPU-bypass flows write chunks of files. All share one calibration
// (inputs.go): the cycles that software spends on a packet, and on 64 B of a chunk. Over RDMA they run on the RDMA NIC,
// a model in Go only.
package ceio
