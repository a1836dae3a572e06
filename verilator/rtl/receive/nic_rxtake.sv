/// Takes frames out of the receive buffers, looks up their queue's state and descriptor, and turns
/// them into jobs for the writer; Events that queues owe go in between. A frame whose descriptor is
/// still being fetched waits, and all frames behind it wait, too.

module nic_rxtake
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Number of receive queues.
  parameter int NumRxq = 64,
  localparam int Qw = $clog2(NumRxq)
) (
  input  logic                  clk,
  input  logic                  rst,
  // A function-level reset is in progress: no frame takes a descriptor.
  input  logic                  flr_i,
  // Frames in the order in which they are delivered.
  input  logic                  frame_valid_i,
  output logic                  frame_ready_o,
  input  rx_frame_t             frame_i,
  // Queue whose context and state is read; same timing as in nic_rxq.
  output logic                  ctx_read_o,
  output logic [Qw-1:0]         ctx_queue_o,
  input  rx_ctx_t               ctx_i,
  output logic [Qw-1:0]         queue_o,
  input  queue_state_e          state_i,
  input  logic [15:0]           pi_i,
  input  logic [15:0]           ci_i,
  input  logic [15:0]           cqi_i,
  output logic                  take_desc_o,
  output logic                  take_event_o,
  input  logic                  event_valid_i,
  input  logic [Qw-1:0]         event_queue_i,
  input  logic [15:0]           event_index_i,
  input  status_e               event_status_i,
  // High if the descriptor at the consumer index has arrived.
  input  logic                  desc_there_i,
  // Job for the writer, a frame or an Event; a frame's descriptor reaches nic_rxdma with it.
  output logic                  job_valid_o,
  input  logic                  job_ready_i,
  output rx_job_t               job_o,
  // Pulse: the frame held has ended and has an account.
  output logic                  settled_o,
  // With settled_o: high if the frame is delivered, low if it is dropped.
  output logic                  passed_o,
  // Pulses of the ports' counters.
  output logic [Ports-1:0][31:0] port_evt_o,
  // Pulse: one more step of RX_DROP_DISABLED; ingress may step it in the same cycle.
  output logic [Ports-1:0]      disabled_o,
  // High while a frame or an Event is in the block.
  output logic                  busy_o,
  // Opens the clock gate: high while the block is busy or a counter pulse is to end.
  output logic                  wake_o
);
  // The frame or Event held; its queue's context arrives in the same cycle.
  logic      valid_q, event_q;
  rx_frame_t frame_q;
  // The next job for the writer.
  logic      job_valid_q;
  rx_job_t   job_q;

  logic        next_valid, next_event, load, leave;
  logic        wait_desc, dropped;
  logic [4:0]  cause;
  logic [13:0] placed, hdr_len, pay_len;   // bytes placed: of the frame, of its two parts
  logic [15:0] slot;

  // Take next: an Event that is not already held, else a frame.
  assign next_event    = event_valid_i && !(valid_q && event_q);
  assign next_valid    = next_event || frame_valid_i;
  assign load          = next_valid && (!valid_q || leave);
  assign frame_ready_o = (!valid_q || leave) && !next_event;

  assign ctx_read_o  = load;
  assign ctx_queue_o = next_event ? event_queue_i : frame_i.info.queue_f[Qw-1:0];
  assign queue_o     = frame_q.info.queue_f[Qw-1:0];

  // Decide on the frame: lengths of its parts, then the first cause to drop it, in the contract's
  // order.
  always_comb begin
    placed    = '0;
    hdr_len   = '0;
    pay_len   = '0;
    cause     = '0;
    wait_desc = 1'b0;
    if (valid_q && !event_q) begin
      unique case (ctx_i.split_mode)
        SplitModeFixed:   hdr_len = ctx_i.split_len > 16'(FrameMax) ? 14'(FrameMax) :
                                    ctx_i.split_len[13:0];
        SplitModeHeaders: hdr_len = 14'(frame_q.info.head.pay_off);
        default:          hdr_len = '0;
      endcase
      placed = ctx_i.trim && frame_q.info.head.trim ? frame_q.info.head.trim_at : frame_q.info.len;
      if (hdr_len > placed)                  hdr_len = placed;
      if (16'(hdr_len) > ctx_i.hdr_buf_size) hdr_len = ctx_i.hdr_buf_size[13:0];
      pay_len = placed - hdr_len;

      if (flr_i) cause = 5'(CntRxDropDisabled);
      else if (frame_q.info.queue_f >= 16'(NumRxq) || state_i == QueueStateOff) begin
        cause = 5'(CntRxDropQueueOff);
      end
      else if (state_i == QueueStateError)          cause = 5'(CntRxDropQueueErr);
      else if (ctx_i.crc_mode == 2'(CrcModeCheck) && frame_q.info.crc.drop) begin
        cause = 5'(CntRxDropCrc32c);
      end
      else if (16'(pay_len) > ctx_i.pay_buf_size)   cause = 5'(CntRxDropTooLong);
      else if (pi_i == ci_i)                        cause = 5'(CntRxDropNoDesc);
      else                                          wait_desc = !desc_there_i;
    end
  end

  assign dropped = cause != '0;
  assign leave   = valid_q && !wait_desc && (!job_valid_q || job_ready_i);
  assign slot    = cqi_i & 16'((17'h1 << ctx_i.log_size) - 17'h1);

  assign take_desc_o  = leave && !event_q && !dropped;
  assign take_event_o = leave && event_q;
  assign settled_o    = leave && !event_q && frame_q.info.draw.account_en;
  assign passed_o     = !dropped;
  assign job_valid_o  = job_valid_q;
  assign job_o        = job_q;
  assign busy_o       = valid_q || job_valid_q;
  assign wake_o       = busy_o || port_evt_o != '0 || disabled_o != '0;

  always_ff @(posedge clk) begin
    valid_q <= load || (valid_q && !leave);
    if (load) begin
      event_q <= next_event;
      frame_q <= frame_i;
      if (next_event) frame_q.info.queue_f <= 16'(event_queue_i);
    end

    job_valid_q <= leave || (job_valid_q && !job_ready_i);
    if (leave) begin
      job_q.kind     <= event_q ? JobEvent : dropped ? JobDrop : JobFrame;
      job_q.frame    <= frame_q;
      if (ctx_i.crc_mode == 2'(CrcModeOff)) job_q.frame.info.crc.value <= '0;
      if (ctx_i.crc_mode != 2'(CrcModeCheck)) begin
        job_q.frame.info.crc.verdict <= VerdictNotChecked;
      end
      job_q.ecn      <= ctx_i.ecn_mode && frame_q.info.head.l3_type != L3TypeNone &&
                        (frame_q.info.head.ip_tos[1] ^ frame_q.info.head.ip_tos[0]);
      job_q.hdr_len  <= hdr_len;
      job_q.pay_len  <= pay_len;
      job_q.cqe_addr <= ctx_i.cq_base + {42'h0, slot, 6'h0};
      job_q.index    <= event_q ? event_index_i : ci_i;
      job_q.status   <= event_q ? event_status_i : StatusOk;
      job_q.phase    <= !cqi_i[ctx_i.log_size];
    end

    port_evt_o <= '0;
    disabled_o <= '0;
    if (leave && !event_q && flr_i)        disabled_o[frame_q.port]        <= 1'b1;
    else if (leave && !event_q && dropped) port_evt_o[frame_q.port][cause] <= 1'b1;

    if (rst) begin
      valid_q     <= 1'b0;
      event_q     <= 1'b0;
      job_valid_q <= 1'b0;
      port_evt_o  <= '0;
      disabled_o  <= '0;
    end
  end
endmodule
