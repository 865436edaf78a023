// Programs that are refused or warned of.
// RUN: sgd-opt %s --sgd-form-stages --split-input-file --verify-diagnostics

sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "1f1b"}

// expected-error @+1 {{stage 1 of 2 has nothing to compute; expected parameters for each stage; ask for fewer stages, or say in the recipe which parameters each has}}
func.func @one(%w: tensor<8x8xf32>, %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> (tensor<8x8xf32> {sgd.carry = 0 : i64}) {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %g = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %s = spmd.all_reduce add(%g) <@mesh, {"micro"}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %u = arith.subf %w, %s : tensor<8x8xf32>
  return %u : tensor<8x8xf32>
}

// -----

sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "1f1b"}

func.func @loop(%w: tensor<16x8x8xf32>, %v: tensor<8x8xf32>, %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> (tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  %zero = arith.constant dense<0> : tensor<i32>
  // expected-error @+1 {{a loop that takes 96 % of the time is on one of 2 stages; expected layers that can be on stages of their own; compile with --unroll, and with parameters of their own for each layer, or ask for fewer stages}}
  %0:3 = sgd.while (%zero, %w, %x) trips 16 do {
  ^bb0(%i: tensor<i32>, %ws: tensor<16x8x8xf32>, %h: tensor<2x8xf32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %one = sgd.dynamic_slice %ws, %i, %c0, %c0 sizes = [1, 8, 8] : (tensor<16x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %layer = sgd.reshape %one : tensor<1x8x8xf32> -> tensor<8x8xf32>
    %next = sgd.dot_general %h, %layer batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %j = arith.addi %i, %c1 : tensor<i32>
    sgd.yield %j, %ws, %next : tensor<i32>, tensor<16x8x8xf32>, tensor<2x8xf32>
  } : (tensor<i32>, tensor<16x8x8xf32>, tensor<2x8xf32>) -> (tensor<i32>, tensor<16x8x8xf32>, tensor<2x8xf32>)
  %y = sgd.dot_general %0#2, %v batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// expected-error @+1 {{'zigzag' is no schedule; expected gpipe, 1f1b, 1f1b:N with N more micro-batches in flight, interleaved:V with V >= 2 chunks of a stage, zero_bubble, zb_h1, zb_h2 or zb_v}}
sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "zigzag"}
func.func @named(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "1f1b"}
// expected-error @+1 {{argument 1 is on stage 9 of 2; expected 0 to 1; correct 'sgd.stage', or the number of stages}}
func.func @outside(%w: tensor<8x8xf32> {sgd.stage = 0 : i64}, %v: tensor<8x8xf32> {sgd.stage = 9 : i64}, %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> (tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %z = sgd.dot_general %y, %v batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  return %z : tensor<2x8xf32>
}

// -----

// Found before a plan of so many stages is made.
sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=4096>, sgd.schedule = "1f1b"}
// expected-error @+1 {{stage 2 of 4096 has nothing to compute; expected parameters for each stage}}
func.func @many(%w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> (tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %z = sgd.dot_general %y, %v batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  return %z : tensor<2x8xf32>
}

// -----

sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "1f1b"}

// Gradients that a loop of the source accumulates, over rows of all micro-batches.
func.func @accumulated(%w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %x: tensor<4x8x8xf32>, %r: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> (tensor<8x8xf32> {sgd.carry = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64}, tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  %zero = arith.constant dense<0> : tensor<i32>
  %zeros = arith.constant dense<0.0> : tensor<8x8xf32>
  // expected-error @+1 {{stage 0 of 2 has nothing to compute: the whole forward and backward pass is in one loop of 4 trips; expected a step without it; write the step for the whole batch, and let "sequential": {"micro": 4} accumulate gradients}}
  %0:6 = sgd.while (%zero, %x, %w, %v, %zeros, %zeros) trips 4 do {
  ^bb0(%i: tensor<i32>, %xs: tensor<4x8x8xf32>, %ww: tensor<8x8xf32>, %vv: tensor<8x8xf32>, %gw: tensor<8x8xf32>, %gv: tensor<8x8xf32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %one = sgd.dynamic_slice %xs, %i, %c0, %c0 sizes = [1, 8, 8] : (tensor<4x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %rows = sgd.reshape %one : tensor<1x8x8xf32> -> tensor<8x8xf32>
    %h = sgd.dot_general %rows, %ww batching = [] x [] contracting = [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %y = sgd.dot_general %h, %vv batching = [] x [] contracting = [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %dv = sgd.dot_general %h, %y batching = [] x [] contracting = [0] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %dh = sgd.dot_general %y, %vv batching = [] x [] contracting = [1] x [1] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %dw = sgd.dot_general %rows, %dh batching = [] x [] contracting = [0] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %sw = arith.addf %gw, %dw : tensor<8x8xf32>
    %sv = arith.addf %gv, %dv : tensor<8x8xf32>
    %j = arith.addi %i, %c1 : tensor<i32>
    sgd.yield %j, %xs, %ww, %vv, %sw, %sv : tensor<i32>, tensor<4x8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  } : (tensor<i32>, tensor<4x8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<i32>, tensor<4x8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
  %uw = arith.subf %w, %0#4 : tensor<8x8xf32>
  %uv = arith.subf %v, %0#5 : tensor<8x8xf32>
  %twice = arith.addf %r, %r : tensor<2x8xf32>
  return %uw, %uv, %twice : tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>
}

// -----

sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "1f1b"}

// Each micro-batch has rows of all blocks.
func.func @in_parts(%w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %x: tensor<4x2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"micro"}, {}]>}, %r: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> (tensor<8x8xf32> {sgd.carry = 0 : i64}, tensor<8x8xf32> {sgd.carry = 1 : i64}, tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  %zero = arith.constant dense<0> : tensor<i32>
  %zeros = arith.constant dense<0.0> : tensor<8x8xf32>
  // expected-error @+1 {{on one of 2 stages; it holds the forward and the backward pass; write the step for the whole batch, and let "sequential" accumulate gradients}}
  %0:6 = sgd.while (%zero, %x, %w, %v, %zeros, %zeros) trips 4 do {
  ^bb0(%i: tensor<i32>, %xs: tensor<4x2x8xf32>, %ww: tensor<8x8xf32>, %vv: tensor<8x8xf32>, %gw: tensor<8x8xf32>, %gv: tensor<8x8xf32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %one = sgd.dynamic_slice %xs, %i, %c0, %c0 sizes = [1, 2, 8] : (tensor<4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %rows = sgd.reshape %one : tensor<1x2x8xf32> -> tensor<2x8xf32>
    %h = sgd.dot_general %rows, %ww batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %y = sgd.dot_general %h, %vv batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %dv = sgd.dot_general %h, %y batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
    %dh = sgd.dot_general %y, %vv batching = [] x [] contracting = [1] x [1] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %dw = sgd.dot_general %rows, %dh batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
    %sw = arith.addf %gw, %dw : tensor<8x8xf32>
    %sv = arith.addf %gv, %dv : tensor<8x8xf32>
    %j = arith.addi %i, %c1 : tensor<i32>
    sgd.yield %j, %xs, %ww, %vv, %sw, %sv : tensor<i32>, tensor<4x2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  } : (tensor<i32>, tensor<4x2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<i32>, tensor<4x2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
  %sums:2 = spmd.all_reduce add(%0#4, %0#5) <@mesh, {"micro"}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %uw = arith.subf %w, %sums#0 : tensor<8x8xf32>
  %uv = arith.subf %v, %sums#1 : tensor<8x8xf32>
  %twice = arith.addf %r, %r : tensor<2x8xf32>
  return %uw, %uv, %twice : tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>
}

// -----

// Virtual stages of a schedule with several on a stage are chunks.
sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "interleaved:2"}
// expected-error @+1 {{chunk 2 of 4 has nothing to compute; expected parameters for each chunk; ask for fewer chunks, or say in the recipe which parameters each has}}
func.func @chunks(%w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> (tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %z = sgd.dot_general %y, %v batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  return %z : tensor<2x8xf32>
}

// -----

// A step without micro-batches.
sgd.mesh @mesh = <[]> {sgd.stages = #sgd<axis"stage"=2>}
// expected-error @+1 {{stage 1 of 2 has nothing to compute; expected parameters for each stage; ask for fewer stages, or say in the recipe which parameters each has}}
func.func @whole(%w: tensor<8x8xf32>, %x: tensor<2x8xf32>) -> (tensor<8x8xf32> {sgd.carry = 0 : i64}) {
  %y = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %g = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32>
  %u = arith.subf %w, %g : tensor<8x8xf32>
  return %u : tensor<8x8xf32>
}

// -----

sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "1f1b"}

// Two layers in one loop over time.
func.func @time(%w: tensor<8x8xf32> {sgd.name = "w"}, %v: tensor<8x8xf32> {sgd.name = "v"}, %u: tensor<8x8xf32>, %x: tensor<4x2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"micro"}, {}]>}, %h0: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> (tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  %zero = arith.constant dense<0> : tensor<i32>
  // expected-warning @+1 {{stage 0 of 2 takes 95 % of the time, a loop 87 %: each iteration reads w and 1 other parameter; expected a loop for each layer; write one, or compile with --unroll, or ask for fewer stages}}
  %0:5 = sgd.while (%zero, %x, %w, %v, %h0) trips 4 do {
  ^bb0(%i: tensor<i32>, %xs: tensor<4x2x8xf32>, %ww: tensor<8x8xf32>, %vv: tensor<8x8xf32>, %h: tensor<2x8xf32>):
    %c0 = arith.constant dense<0> : tensor<i32>
    %c1 = arith.constant dense<1> : tensor<i32>
    %one = sgd.dynamic_slice %xs, %i, %c0, %c0 sizes = [1, 2, 8] : (tensor<4x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %row = sgd.reshape %one : tensor<1x2x8xf32> -> tensor<2x8xf32>
    %a = sgd.dot_general %row, %ww batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %b = arith.addf %a, %h : tensor<2x8xf32>
    %c = sgd.dot_general %b, %vv batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %j = arith.addi %i, %c1 : tensor<i32>
    sgd.yield %j, %xs, %ww, %vv, %c : tensor<i32>, tensor<4x2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>
  } : (tensor<i32>, tensor<4x2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>) -> (tensor<i32>, tensor<4x2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x8xf32>)
  %y = sgd.dot_general %0#4, %u batching = [] x [] contracting = [1] x [0] : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// The layers need the whole batch, which no loop over micro-batches computes.
sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "1f1b"}
// expected-error @+1 {{stage 0 of 2 has nothing to compute in the loop over micro-batches: most of the step is computed for the whole batch, since ops read rows of several micro-batches; expected layers that compute each row by itself; find these ops by sgdc --micro-refuse, or leave 'sequential' out}}
func.func @outside(%w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) -> tensor<4x8xf32> {
  %all = spmd.all_gather(%x) dims = [0] <@mesh, {"micro"}> : (tensor<2x8xf32>) -> tensor<4x8xf32>
  %y = sgd.dot_general %all, %w batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %z = sgd.dot_general %y, %v batching = [] x [] contracting = [1] x [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// -----

sgd.mesh @mesh = <["micro"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "1f1b"}

func.func @host_call(%x: tensor<2x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"micro"}, {}]>}) {
  // expected-error @+1 {{'jax.debug.print' calls a function of the host, in a pipeline, whose stages run parts of the batch at different times; expected none; return the value from the program, or drop 'stages'}}
  sgd.host_call "jax.debug.print" 1(%x) : (tensor<2x8xf32>) -> ()
  return
}
