/// Finds the pad count in a frame's BTH (contract T15) while its bytes are gathered: in the inline
/// bytes when the entry comes, else in the bytes that its reads bring.

module nic_gather_pad
  import nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Number of the read client whose responses are searched.
  parameter int Client = RdGather,
  // Frame slots, a power of two.
  parameter int Slots = 256,
  // Lines of 128 bytes, a power of two.
  parameter int Lines = 512,
  localparam int Sw = $clog2(Slots),
  localparam int Lw = $clog2(Lines)
) (
  input  logic            clk,
  // Pulse: entry ent_i takes slot slot_i, with lines from line_i on.
  input  logic            alloc_i,
  input  logic [Sw-1:0]   slot_i,
  input  logic [Lw-1:0]   line_i,
  input  tx_ent_t         ent_i,
  // Response to a read of slot rsp_slot_i. Two cycles later its bytes are written to the gather
  // buffer, as the signals below say.
  input  rd_rsp_t         rsp_i,
  input  logic [Sw-1:0]   rsp_slot_i,
  input  logic [1:0]      we_i,
  input  logic [Lw-2:0]   even_addr_i,
  input  logic [Lw-2:0]   odd_addr_i,
  input  logic [TlpW-1:0] even_mask_i,
  input  logic [TlpW-1:0] odd_mask_i,
  input  logic [TlpW-1:0] data_i,
  // Slot to look up; pad_o: pad count of its frame.
  input  logic [Sw-1:0]   look_i,
  output logic [1:0]      pad_o
);
  // Where the byte with a frame's pad count lies in the gather buffer: a line, and a byte of it.
  // Field `any` is high if pad and ICRC are appended to the frame, so that its pad count is needed.
  typedef struct packed {
    logic          any;
    logic [Lw-1:0] line;
    logic [6:0]    at;
  } want_t;

  localparam logic [8:0] FlagsOff = 9'd9;      // offset from the start of the UDP header

  want_t               want_mem [Slots];
  logic [1:0]          pad_mem  [Slots];
  logic [1:0][Sw-1:0]  slot_q;
  want_t               want;
  logic                hit, unused_bits;

  assign pad_o       = pad_mem[look_i];
  assign unused_bits = ^{ent_i, rsp_i};

  always_comb begin
    want = '0;
    hit  = 1'b0;
    if (we_i != 2'b00) begin
      want = want_mem[slot_q[1]];
      if (want.any) begin
        hit = want.line[0] ?
              we_i[1] && odd_addr_i == want.line[Lw-1:1] && odd_mask_i[{want.at, 3'b000}] :
              we_i[0] && even_addr_i == want.line[Lw-1:1] && even_mask_i[{want.at, 3'b000}];
      end
    end
  end

  always_ff @(posedge clk) begin
    logic [8:0] pos;
    if (rsp_i.to[Client]) slot_q[0] <= rsp_slot_i;
    slot_q[1] <= slot_q[0];
    if (hit) pad_mem[slot_q[1]] <= data_i[{want.at, 3'd4} +: 2];
    if (alloc_i) begin
      pos = 9'(ent_i.f.ofl.l4) + FlagsOff;
      want_mem[slot_i] <= '{any: ent_i.f.app != 3'd0, line: line_i + Lw'(pos[8:7]), at: pos[6:0]};
      if (ent_i.f.app != 3'd0) begin
        pad_mem[slot_i] <= pos < 9'(ent_i.f.inl_len) ? ent_i.inl[{pos[7:0], 3'd4} +: 2] : 2'd0;
      end
    end
  end
endmodule
