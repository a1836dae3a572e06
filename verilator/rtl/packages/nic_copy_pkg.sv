/// Types shared by the blocks of the copy engine (contract section 17).

package nic_copy_pkg;

  localparam int Channels = nic_pkg::CopyChannels;
  localparam int Chw      = $clog2(Channels);
  // Entries that a channel holds at once.
  localparam int Jobs     = 16;
  localparam int Jw       = $clog2(Jobs);
  // Read requests of a channel in flight, and lines of 128 bytes of its buffer.
  localparam int Chunks   = 128;
  localparam int Cw       = $clog2(Chunks);
  localparam int Lines    = 256;
  localparam int Lw       = $clog2(Lines);
  // Longest read request, bytes; it ends at a multiple of this in the source.
  localparam int ChunkB   = 512;

  // A request of a channel to read.
  typedef struct packed {
    logic [63:0]   addr;
    logic [9:0]    len;
    logic [Cw-1:0] slot;
  } copy_rd_t;

  // An output step of a channel: a beat of a write, a message, or just the end of an entry.
  typedef struct packed {
    logic          data;     // bytes bytes of the line go out
    logic          msg;
    logic          start;    // a write of len bytes at addr begins
    logic          last;     // of the packet
    logic          done;     // the entry ends with it
    logic [Lw-1:0] line;
    logic [7:0]    bytes;
    logic [9:0]    len;
    logic [18:0]   lines;    // 64-byte lines that the message names
    logic [63:0]   addr;     // of the write; of the first line
  } copy_step_t;

endpackage
