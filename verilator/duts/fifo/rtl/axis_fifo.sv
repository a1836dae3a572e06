// First-in first-out store for AXI-Stream frames with one side-band word per frame.
//
// The device the bridge is tested with: every frame that enters leaves unchanged, in order, beat by
// beat. Read data come from a registered output stage, so no path leads from an input pin to an
// output pin.

module axis_fifo #(
  // Width of the data bus in bits, a multiple of 8.
  parameter int unsigned DataWidth = 512,
  // Width of the side-band word that accompanies the first beat, in bits.
  parameter int unsigned UserWidth = 32,
  // Capacity in beats, a power of two.
  parameter int unsigned Depth = 64,
  // Bytes that one keep bit stands for.
  parameter int unsigned KeepUnit  = 1,
  // Width of tkeep, derived from the parameters.
  localparam int unsigned KeepWidth = DataWidth / 8 / KeepUnit
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic [DataWidth-1:0] s_axis_tdata,
  input  logic [KeepWidth-1:0] s_axis_tkeep,
  input  logic [UserWidth-1:0] s_axis_tuser,
  input  logic                 s_axis_tlast,
  input  logic                 s_axis_tvalid,
  output logic                 s_axis_tready,

  output logic [DataWidth-1:0] m_axis_tdata,
  output logic [KeepWidth-1:0] m_axis_tkeep,
  output logic [UserWidth-1:0] m_axis_tuser,
  output logic                 m_axis_tlast,
  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready,

  // Deliberate defects for the tests of the harness: 0 none; see the case statement below.
  input  logic [3:0]           defect_i,
  // High while a beat is stored.
  output logic                 busy_o,
  // Number of beats stored.
  output logic [15:0]          level_o
);

  typedef struct packed {
    logic                 last;
    logic [UserWidth-1:0] user;
    logic [KeepWidth-1:0] keep;
    logic [DataWidth-1:0] data;
  } beat_t;

  typedef enum logic [3:0] {
    DefectNone      = 4'd0,
    DefectDropValid = 4'd1,  // withdraws tvalid while stalled
    DefectShiftData = 4'd2,  // changes tdata while stalled
    DefectKeepHole  = 4'd3,  // clears the lowest tkeep bit
    DefectNoLast    = 4'd4,  // never ends a frame
    DefectHang      = 4'd5,  // accepts nothing
    DefectFatal     = 4'd6,  // reports an error once a frame has been stored
    DefectFinish    = 4'd7,  // ends the simulation once a frame has been stored
    DefectFlipBit   = 4'd8   // inverts the lowest data bit
  } defect_e;

  localparam int unsigned AddrWidth = $clog2(Depth);

  if (DataWidth % (8 * KeepUnit) != 0) begin : gen_bad_width
    $fatal(1, "axis_fifo: DataWidth must be a multiple of 8 * KeepUnit");
  end
  if (2 ** AddrWidth != Depth || Depth < 2) begin : gen_bad_depth
    $fatal(1, "axis_fifo: Depth must be a power of two of at least 2");
  end

  beat_t                mem [Depth];
  beat_t                out_q;
  logic                 out_valid_q, out_valid_d;
  logic [AddrWidth:0]   wr_ptr_q, wr_ptr_d;
  logic [AddrWidth:0]   rd_ptr_q, rd_ptr_d;
  logic [AddrWidth:0]   level;
  logic                 empty, full, push, pop;
  logic                 stalled_q;
  defect_e              defect;

  assign defect = defect_e'(defect_i);
  assign level  = wr_ptr_q - rd_ptr_q;
  assign empty  = level == '0;
  assign full   = level == (AddrWidth + 1)'(Depth);

  assign s_axis_tready = !full && defect != DefectHang;
  assign push          = s_axis_tvalid && s_axis_tready;
  assign pop           = !empty && (!out_valid_q || m_axis_tready);

  always_comb begin
    wr_ptr_d    = wr_ptr_q;
    rd_ptr_d    = rd_ptr_q;
    out_valid_d = out_valid_q;
    if (m_axis_tready) out_valid_d = 1'b0;
    if (push) wr_ptr_d = wr_ptr_q + 1'b1;
    if (pop) begin
      rd_ptr_d    = rd_ptr_q + 1'b1;
      out_valid_d = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wr_ptr_q    <= '0;
      rd_ptr_q    <= '0;
      out_valid_q <= 1'b0;
      stalled_q   <= 1'b0;
    end else begin
      wr_ptr_q    <= wr_ptr_d;
      rd_ptr_q    <= rd_ptr_d;
      out_valid_q <= out_valid_d;
      stalled_q   <= out_valid_q && !m_axis_tready;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      mem[wr_ptr_q[AddrWidth-1:0]] <= '{
        last: s_axis_tlast, user: s_axis_tuser, keep: s_axis_tkeep, data: s_axis_tdata
      };
    end
    if (pop) out_q <= mem[rd_ptr_q[AddrWidth-1:0]];
  end

  always_comb begin
    m_axis_tdata  = out_q.data;
    m_axis_tkeep  = out_q.keep;
    m_axis_tuser  = out_q.user;
    m_axis_tlast  = out_q.last;
    m_axis_tvalid = out_valid_q;
    case (defect)
      DefectDropValid: m_axis_tvalid = out_valid_q && !stalled_q;
      DefectShiftData: if (stalled_q) m_axis_tdata = {out_q.data[DataWidth-2:0], 1'b1};
      DefectKeepHole:  m_axis_tkeep[0] = 1'b0;
      DefectNoLast:    m_axis_tlast = 1'b0;
      DefectFlipBit:   m_axis_tdata[0] = !out_q.data[0];
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && push && s_axis_tlast) begin
      if (defect == DefectFatal) $error("axis_fifo: defect %0d asked for", defect_i);
      if (defect == DefectFinish) $finish;
    end
  end

  assign busy_o  = !empty || out_valid_q;
  assign level_o = 16'(level);

  // The store is never written when full nor read when empty.
  assert property (@(posedge clk_i) disable iff (!rst_ni) level <= (AddrWidth + 1)'(Depth))
  else $error("axis_fifo: level %0d above depth", level);
  // AXI-Stream: the offered beat stays until it is taken.
  assert property (@(posedge clk_i) disable iff (!rst_ni)
    m_axis_tvalid && !m_axis_tready |=> m_axis_tvalid && $stable(m_axis_tdata))
  else $error("axis_fifo: m_axis changed while stalled");

endmodule
