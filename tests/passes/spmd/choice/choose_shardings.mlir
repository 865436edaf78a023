// Forms of whole programs.
// RUN: sgd-opt %s --split-input-file --sgd-choose-shardings | FileCheck %s
// RUN: sgd-opt %s --split-input-file --sgd-choose-shardings=weigh-constraints | FileCheck %s --check-prefix=WEIGH

// Two residual layers, parameters sharded by features: no value alone is cheaper sharded by the batch over both axes, all of them together are. Ranks
// gather parameters then, instead of reducing activations.
sgd.mesh @mesh = <["data"=2, "model"=2]>
// CHECK-LABEL: @large_batch
// CHECK-SAME: sgd.decisions = [#sgd.decision<choice, {alternatives = [{bytes = 57344 : i64, name = "as annotated"}], bytes = 24576 : i64, chosen = "with x sharded inside it as [{\22data\22, \22model\22}, {}]", why = "with x sharded inside it as [{\22data\22, \22model\22}, {}], the program sends about 24576 bytes a step instead of 57344"
// CHECK-NEXT: %[[X:.*]] = sgd.sharding_constraint %arg0 <@mesh, [{"data", "model"}, {}]> : tensor<512x16xf32>
// CHECK: sgd.dot_general %[[X]], %arg1
func.func @large_batch(%x: tensor<512x16xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>},
    %w0: tensor<16x64xf32> {sgd.alias_output = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>},
    %v0: tensor<64x16xf32> {sgd.alias_output = 1 : i64, sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>},
    %w1: tensor<16x64xf32> {sgd.alias_output = 2 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>},
    %v1: tensor<64x16xf32> {sgd.alias_output = 3 : i64, sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<16x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>}, tensor<64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>}, tensor<16x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>}, tensor<64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>}) {
  %h0 = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<512x16xf32>, tensor<16x64xf32> -> tensor<512x64xf32>
  %a0 = math.exp %h0 : tensor<512x64xf32>
  %y0 = sgd.dot_general %a0, %v0 batching = [] x [] contracting = [1] x [0] : tensor<512x64xf32>, tensor<64x16xf32> -> tensor<512x16xf32>
  %x0 = arith.addf %x, %y0 : tensor<512x16xf32>
  %h1 = sgd.dot_general %x0, %w1 batching = [] x [] contracting = [1] x [0] : tensor<512x16xf32>, tensor<16x64xf32> -> tensor<512x64xf32>
  %a1 = math.exp %h1 : tensor<512x64xf32>
  %y1 = sgd.dot_general %a1, %v1 batching = [] x [] contracting = [1] x [0] : tensor<512x64xf32>, tensor<64x16xf32> -> tensor<512x16xf32>
  %x1 = arith.addf %x0, %y1 : tensor<512x16xf32>
  %dv1 = sgd.dot_general %a1, %x1 batching = [] x [] contracting = [0] x [0] : tensor<512x64xf32>, tensor<512x16xf32> -> tensor<64x16xf32>
  %da1 = sgd.dot_general %x1, %v1 batching = [] x [] contracting = [1] x [1] : tensor<512x16xf32>, tensor<64x16xf32> -> tensor<512x64xf32>
  %dh1 = arith.mulf %da1, %a1 : tensor<512x64xf32>
  %dw1 = sgd.dot_general %x0, %dh1 batching = [] x [] contracting = [0] x [0] : tensor<512x16xf32>, tensor<512x64xf32> -> tensor<16x64xf32>
  %dx1 = sgd.dot_general %dh1, %w1 batching = [] x [] contracting = [1] x [1] : tensor<512x64xf32>, tensor<16x64xf32> -> tensor<512x16xf32>
  %g1 = arith.addf %x1, %dx1 : tensor<512x16xf32>
  %dv0 = sgd.dot_general %a0, %g1 batching = [] x [] contracting = [0] x [0] : tensor<512x64xf32>, tensor<512x16xf32> -> tensor<64x16xf32>
  %da0 = sgd.dot_general %g1, %v0 batching = [] x [] contracting = [1] x [1] : tensor<512x16xf32>, tensor<64x16xf32> -> tensor<512x64xf32>
  %dh0 = arith.mulf %da0, %a0 : tensor<512x64xf32>
  %dw0 = sgd.dot_general %x, %dh0 batching = [] x [] contracting = [0] x [0] : tensor<512x16xf32>, tensor<512x64xf32> -> tensor<16x64xf32>
  return %dw0, %dv0, %dw1, %dv1 : tensor<16x64xf32>, tensor<64x16xf32>, tensor<16x64xf32>, tensor<64x16xf32>
}

// -----

// The same, but parameters are much larger than the batch: activations travel.
sgd.mesh @mesh = <["data"=2, "model"=2]>
// CHECK-LABEL: @large_parameters
// CHECK-NOT: sgd.decisions
// CHECK-NOT: sgd.sharding_constraint
func.func @large_parameters(%x: tensor<8x256xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<256x512xf32> {sgd.alias_output = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>},
    %v: tensor<512x256xf32> {sgd.alias_output = 1 : i64, sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<256x512xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>}, tensor<512x256xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>}) {
  %h = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<8x256xf32>, tensor<256x512xf32> -> tensor<8x512xf32>
  %a = math.exp %h : tensor<8x512xf32>
  %y = sgd.dot_general %a, %v batching = [] x [] contracting = [1] x [0] : tensor<8x512xf32>, tensor<512x256xf32> -> tensor<8x256xf32>
  %e = math.exp %y : tensor<8x256xf32>
  %dv = sgd.dot_general %a, %e batching = [] x [] contracting = [0] x [0] : tensor<8x512xf32>, tensor<8x256xf32> -> tensor<512x256xf32>
  %da = sgd.dot_general %e, %v batching = [] x [] contracting = [1] x [1] : tensor<8x256xf32>, tensor<512x256xf32> -> tensor<8x512xf32>
  %dw = sgd.dot_general %x, %da batching = [] x [] contracting = [0] x [0] : tensor<8x256xf32>, tensor<8x512xf32> -> tensor<256x512xf32>
  return %dw, %dv : tensor<256x512xf32>, tensor<512x256xf32>
}

// -----

// A constraint inside the program says what the axis is for; it is dropped only where that was allowed.
sgd.mesh @mesh = <["data"=2, "model"=2]>
// CHECK-LABEL: @constrained
// CHECK-NOT: sgd.decisions
// CHECK: sgd.sharding_constraint {{.*}} <@mesh, [{"data"}, {"model"}]> : tensor<4096x16xf32>
// WEIGH-LABEL: @constrained
// WEIGH-SAME: sgd.decisions = [#sgd.decision<choice, {{[{]}}{{.*}}why = "without its constraints on values inside it, x sharded inside it as [{\22data\22, \22model\22}, {}], the program sends about
// WEIGH: sgd.sharding_constraint %arg0 <@mesh, [{"data", "model"}, {}]>
// WEIGH-NOT: sgd.sharding_constraint
func.func @constrained(%x: tensor<4096x8xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<8x16xf32> {sgd.alias_output = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>},
    %v: tensor<16x8xf32> {sgd.alias_output = 1 : i64, sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<8x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>}, tensor<16x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>}) {
  %h = sgd.dot_general %x, %w batching = [] x [] contracting = [1] x [0] : tensor<4096x8xf32>, tensor<8x16xf32> -> tensor<4096x16xf32>
  %c = sgd.sharding_constraint %h <@mesh, [{"data"}, {"model"}]> : tensor<4096x16xf32>
  %a = math.exp %c : tensor<4096x16xf32>
  %y = sgd.dot_general %a, %v batching = [] x [] contracting = [1] x [0] : tensor<4096x16xf32>, tensor<16x8xf32> -> tensor<4096x8xf32>
  %e = math.exp %y : tensor<4096x8xf32>
  %dv = sgd.dot_general %a, %e batching = [] x [] contracting = [0] x [0] : tensor<4096x16xf32>, tensor<4096x8xf32> -> tensor<16x8xf32>
  %da = sgd.dot_general %e, %v batching = [] x [] contracting = [1] x [1] : tensor<4096x8xf32>, tensor<16x8xf32> -> tensor<4096x16xf32>
  %dw = sgd.dot_general %x, %da batching = [] x [] contracting = [0] x [0] : tensor<4096x8xf32>, tensor<4096x16xf32> -> tensor<8x16xf32>
  return %dw, %dv : tensor<8x16xf32>, tensor<16x8xf32>
}

// -----

// A batch that would not divide stays as it is.
sgd.mesh @mesh = <["data"=2, "model"=2]>
// CHECK-LABEL: @uneven
// CHECK-NOT: sgd.sharding_constraint
func.func @uneven(%x: tensor<510x16xf32> {sgd.name = "x", sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>},
    %w0: tensor<16x64xf32> {sgd.alias_output = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>},
    %v0: tensor<64x16xf32> {sgd.alias_output = 1 : i64, sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>},
    %w1: tensor<16x64xf32> {sgd.alias_output = 2 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>},
    %v1: tensor<64x16xf32> {sgd.alias_output = 3 : i64, sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>})
    -> (tensor<16x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>}, tensor<64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>}, tensor<16x64xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"model"}]>}, tensor<64x16xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}]>}) {
  %h0 = sgd.dot_general %x, %w0 batching = [] x [] contracting = [1] x [0] : tensor<510x16xf32>, tensor<16x64xf32> -> tensor<510x64xf32>
  %a0 = math.exp %h0 : tensor<510x64xf32>
  %y0 = sgd.dot_general %a0, %v0 batching = [] x [] contracting = [1] x [0] : tensor<510x64xf32>, tensor<64x16xf32> -> tensor<510x16xf32>
  %x0 = arith.addf %x, %y0 : tensor<510x16xf32>
  %h1 = sgd.dot_general %x0, %w1 batching = [] x [] contracting = [1] x [0] : tensor<510x16xf32>, tensor<16x64xf32> -> tensor<510x64xf32>
  %a1 = math.exp %h1 : tensor<510x64xf32>
  %y1 = sgd.dot_general %a1, %v1 batching = [] x [] contracting = [1] x [0] : tensor<510x64xf32>, tensor<64x16xf32> -> tensor<510x16xf32>
  %x1 = arith.addf %x0, %y1 : tensor<510x16xf32>
  %dv1 = sgd.dot_general %a1, %x1 batching = [] x [] contracting = [0] x [0] : tensor<510x64xf32>, tensor<510x16xf32> -> tensor<64x16xf32>
  %da1 = sgd.dot_general %x1, %v1 batching = [] x [] contracting = [1] x [1] : tensor<510x16xf32>, tensor<64x16xf32> -> tensor<510x64xf32>
  %dh1 = arith.mulf %da1, %a1 : tensor<510x64xf32>
  %dw1 = sgd.dot_general %x0, %dh1 batching = [] x [] contracting = [0] x [0] : tensor<510x16xf32>, tensor<510x64xf32> -> tensor<16x64xf32>
  %dx1 = sgd.dot_general %dh1, %w1 batching = [] x [] contracting = [1] x [1] : tensor<510x64xf32>, tensor<16x64xf32> -> tensor<510x16xf32>
  %g1 = arith.addf %x1, %dx1 : tensor<510x16xf32>
  %dv0 = sgd.dot_general %a0, %g1 batching = [] x [] contracting = [0] x [0] : tensor<510x64xf32>, tensor<510x16xf32> -> tensor<64x16xf32>
  %da0 = sgd.dot_general %g1, %v0 batching = [] x [] contracting = [1] x [1] : tensor<510x16xf32>, tensor<64x16xf32> -> tensor<510x64xf32>
  %dh0 = arith.mulf %da0, %a0 : tensor<510x64xf32>
  %dw0 = sgd.dot_general %x, %dh0 batching = [] x [] contracting = [0] x [0] : tensor<510x16xf32>, tensor<510x64xf32> -> tensor<16x64xf32>
  return %dw0, %dv0, %dw1, %dv1 : tensor<16x64xf32>, tensor<64x16xf32>, tensor<16x64xf32>, tensor<64x16xf32>
}
