// Refuses ops that cannot be computed shard by shard, with op, dimension and axes.
// RUN: sgd-opt %s --split-input-file --sgd-localize --verify-diagnostics

// expected-error @below {{has no sgd.mesh; expected the mesh to partition for; run sgd-shard first}}
module {}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @no_sharding(%a: tensor<8xf32, #sgd.sharding<@mesh, [{}]>>) {
  // expected-error @below {{type 'tensor<8xf32>' has no sharding; run sgd-shard before}}
  %0 = arith.constant dense<0.0> : tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @unknown_axis() {
  // expected-error @below {{sharding names the unknown axis "y"}}
  %0 = arith.constant dense<0.0> : tensor<8xf32, #sgd.sharding<@mesh, [{"y"}]>>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @disagree(%a: tensor<8x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, %b: tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>) {
  // expected-error @below {{has operands and results that disagree: dimension 0 of operand 1 is sharded over {}, its partners over {"x"}}}
  %0 = sgd.dot_general %a, %b batching = [] x [] contracting = [0] x [0] : tensor<8x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>, tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>> -> tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {}]>>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @window(%x: tensor<1x8x1x4xf32, #sgd.sharding<@mesh, [{}, {}, {}, {}]>>, %w: tensor<4x1x4x8xf32, #sgd.sharding<@mesh, [{"x"}, {}, {}, {}]>>) {
  // expected-error @below {{needs dimension 0 of operand 1 whole, but it is sharded over {"x"}; reshard it before}}
  %0 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1]
    : tensor<1x8x1x4xf32, #sgd.sharding<@mesh, [{}, {}, {}, {}]>>, tensor<4x1x4x8xf32, #sgd.sharding<@mesh, [{"x"}, {}, {}, {}]>> -> tensor<1x5x1x8xf32, #sgd.sharding<@mesh, [{}, {}, {}, {}]>>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @reshape_of_minor(%a: tensor<3x8xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>) {
  // expected-error @below {{has operands and results that disagree: dimension 0 of result 0 is sharded over {"x"}, its partners over {}}}
  %0 = sgd.reshape %a : tensor<3x8xf32, #sgd.sharding<@mesh, [{}, {"x"}]>> -> tensor<24xf32, #sgd.sharding<@mesh, [{"x"}]>>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @sum_not_marked(%a: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>) {
  // expected-error @below {{has a result that is partial over {"x"}; expected its sharding to say unreduced={"x"}}}
  %0 = sgd.reduce add %a dimensions = [0] : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>> -> tensor<f32, #sgd.sharding<@mesh, []>>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @sum_from_nowhere(%a: tensor<8xf32, #sgd.sharding<@mesh, [{}]>>) {
  // expected-error @below {{has a result whose sharding says that it is partial over {"x"}, but none of its operands is}}
  %0 = sgd.reduce add %a dimensions = [0] : tensor<8xf32, #sgd.sharding<@mesh, [{}]>> -> tensor<f32, #sgd.sharding<@mesh, [], unreduced={"x"}>>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @not_linear(%a: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>) {
  %0 = sgd.reduce add %a dimensions = [0] : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>> -> tensor<f32, #sgd.sharding<@mesh, [], unreduced={"x"}>>
  // expected-error @below {{is not linear and has an operand that is partial over {"x"}; expected reduced operands}}
  %1 = math.exp %0 : tensor<f32, #sgd.sharding<@mesh, [], unreduced={"x"}>>
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @partial_result(%a: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>) -> tensor<f32, #sgd.sharding<@mesh, [], unreduced={"x"}>> {
  %0 = sgd.reduce add %a dimensions = [0] : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>> -> tensor<f32, #sgd.sharding<@mesh, [], unreduced={"x"}>>
  // expected-error @below {{result 0 is partial over}}
  return %0 : tensor<f32, #sgd.sharding<@mesh, [], unreduced={"x"}>>
}

// -----

sgd.mesh @mesh = <["x"=4]>
// expected-error @below {{reduction 'and' is not defined on 'f32'}}
func.func @undefined_reduction(%a: tensor<8xf32, #sgd.sharding<@mesh, [{}], unreduced=and{"x"}>>) {
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
// expected-error @below {{tensors of 'complex<f32>' cannot be partitioned}}
func.func @complex(%a: tensor<8xcomplex<f32>, #sgd.sharding<@mesh, [{}]>>) {
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
// expected-error @below {{sharding names mesh @other, the module's is @mesh}}
func.func @other_mesh(%a: tensor<8xf32, #sgd.sharding<@other, [{}]>>) {
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @no_rule(%a: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>) {
  // expected-error @below {{has regions and cannot be partitioned; expected sgd.while, sgd.case or an op without regions; expand it first}}
  %0 = fusion.cluster(%a) {
  ^bb0(%b: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>):
    fusion.yield %b : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>
  } : (tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>) -> tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>
  return
}

// -----

sgd.mesh @mesh = <["x"=2]>
func.func @summands(%a: tensor<8xf32, #sgd.sharding<@mesh, [{}]>>) -> tensor<2x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> {
  // expected-error @below {{has an operand that is partial over {} and summands over {"x"}; expected the same axes, which cut the summands evenly; reshard the operand}}
  %0 = sgd.summands %a : tensor<8xf32, #sgd.sharding<@mesh, [{}]>> -> tensor<2x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  return %0 : tensor<2x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
}
