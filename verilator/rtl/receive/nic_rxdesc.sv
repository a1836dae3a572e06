/// Descriptor cache: DescCache descriptors for each queue, in four banks, so that the four
/// descriptors of a 64 B block are written at once; and one bit for each that says whether it has
/// arrived.

module nic_rxdesc
  import nic_int_pkg::*;
  import nic_pkg::*;
#(
  // Number of receive queues.
  parameter int NumRxq = 64,
  // Descriptors cached for each queue, a power of two.
  parameter int DescCache = 128,
  localparam int Qw = $clog2(NumRxq),
  localparam int Sw = $clog2(DescCache)
) (
  input  logic          clk,
  // Pulse: response beat of a descriptor read whose first descriptor goes to slot fill_slot_i.
  input  logic          fill_i,
  input  logic [Qw-1:0] fill_queue_i,
  input  logic [Sw-1:0] fill_slot_i,
  input  rd_rsp_t       fill_rsp_i,
  // Pulse: ready_count_i descriptors from fill_slot_i on have arrived.
  input  logic          ready_i,
  input  logic [2:0]    ready_count_i,
  // Pulse: marks all descriptors of queue clear_queue_i as not arrived.
  input  logic          clear_i,
  input  logic [Qw-1:0] clear_queue_i,
  // Slot to look up; look_o: its descriptor has arrived.
  input  logic [Qw-1:0] look_queue_i,
  input  logic [Sw-1:0] look_slot_i,
  output logic          look_o,
  // Pulse: reads the descriptor in slot look_slot_i; it is on desc_o from the next cycle on.
  input  logic          take_i,
  output rx_desc_t      desc_o
);
  localparam int Lines = NumRxq * DescCache / 4;
  localparam int Lw = Qw + Sw - 2;

  logic [DescCache-1:0] there_q [NumRxq];
  logic [127:0]         word [4];
  logic [1:0]           bank_q;

  logic [Lw-1:0] fill_line, look_line;
  logic [3:0]    first_dw;       // DW of the line at which the data begin
  logic [4:0]    dws;
  logic [15:0]   we;
  logic [511:0]  data;

  assign fill_line = {fill_queue_i, fill_slot_i[Sw-1:2]};
  assign look_line = {look_queue_i, look_slot_i[Sw-1:2]};
  assign look_o    = there_q[look_queue_i][look_slot_i];
  assign desc_o    = rx_desc_t'(word[bank_q]);

  // Responses hold whole DWs of descriptors, because the ring is aligned.
  always_comb begin
    first_dw = {fill_slot_i[1:0], 2'b00} + fill_rsp_i.off[5:2];
    dws      = fill_rsp_i.nbytes[6:2];
    we       = '0;
    data     = '0;
    if (fill_i) begin
      we   = 16'((17'h1 << dws) - 17'h1) << first_dw;
      data = 512'(fill_rsp_i.data >> {fill_rsp_i.lane[6:2], 5'b0}) << {first_dw, 5'b0};
    end
  end

  for (genvar b = 0; b < 4; b++) begin : g_bank
    logic [31:0]  mem0 [Lines];
    logic [31:0]  mem1 [Lines];
    logic [31:0]  mem2 [Lines];
    logic [31:0]  mem3 [Lines];
    logic [127:0] word_q;

    assign word[b] = word_q;

    always_ff @(posedge clk) begin
      if (fill_i) begin
        if (we[4*b])   mem0[fill_line] <= data[128*b +: 32];
        if (we[4*b+1]) mem1[fill_line] <= data[128*b+32 +: 32];
        if (we[4*b+2]) mem2[fill_line] <= data[128*b+64 +: 32];
        if (we[4*b+3]) mem3[fill_line] <= data[128*b+96 +: 32];
      end
      if (take_i && look_slot_i[1:0] == 2'(b)) begin
        word_q <= {mem3[look_line], mem2[look_line], mem1[look_line], mem0[look_line]};
      end
    end
  end

  always_ff @(posedge clk) begin
    if (take_i) begin
      bank_q <= look_slot_i[1:0];
      there_q[look_queue_i][look_slot_i] <= 1'b0;
    end
    if (ready_i) begin
      for (int i = 0; i < 4; i++) begin
        if (3'(i) < ready_count_i) there_q[fill_queue_i][fill_slot_i + Sw'(i)] <= 1'b1;
      end
    end
    if (clear_i) there_q[clear_queue_i] <= '0;
  end

  logic unused_bits;
  assign unused_bits = ^{fill_rsp_i};
endmodule
