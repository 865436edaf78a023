// RUN: sgd-opt %s --sgd-verify-sharding --split-input-file --verify-diagnostics

sgd.mesh @mesh = <["x"=2]>
func.func @missing(%a: tensor<8xf32>) {
  // expected-error @below {{has a tensor without sharding after sgd-shard: 'tensor<8xf32>'}}
  %0 = arith.negf %a : tensor<8xf32>
  return
}

// -----

sgd.mesh @mesh = <["x"=2]>
func.func @disagreement(%a: tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>) {
  // expected-error @below {{has operands and results that do not fit one assignment of axes to the factors of its rule}}
  %0 = sgd.transpose %a permutation = [1, 0] : tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> -> tensor<4x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  return
}

// -----

sgd.mesh @mesh = <["x"=2]>
func.func @must_be_whole(%x: tensor<1x8x1x4xf32, #sgd.sharding<@mesh, [{}, {}, {}, {}]>>, %w: tensor<4x1x4x8xf32, #sgd.sharding<@mesh, [{"x"}, {}, {}, {}]>>) {
  // expected-error @below {{has operands and results that do not fit one assignment of axes to the factors of its rule}}
  %0 = sgd.convolution %x, %w strides = [1] low = [0] high = [0] lhs_dilations = [1] rhs_dilations = [1]
    : tensor<1x8x1x4xf32, #sgd.sharding<@mesh, [{}, {}, {}, {}]>>, tensor<4x1x4x8xf32, #sgd.sharding<@mesh, [{"x"}, {}, {}, {}]>> -> tensor<1x5x1x8xf32, #sgd.sharding<@mesh, [{}, {}, {}, {}]>>
  return
}

// -----

sgd.mesh @mesh = <["x"=2]>
func.func @not_partial(%a: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>) {
  // expected-error @below {{result should be sharded as #sgd.sharding<@mesh, [], unreduced=max{"x"}>, is #sgd.sharding<@mesh, []>}}
  %0 = sgd.reduce max %a dimensions = [0] : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>> -> tensor<f32, #sgd.sharding<@mesh, []>>
  return
}

// -----

sgd.mesh @mesh = <["x"=2]>
func.func @other_mesh(%a: tensor<8xf32, #sgd.sharding<@other, [{"x"}]>>) {
  // expected-error @below {{has a tensor on another mesh than @mesh: 'tensor<8xf32, #sgd.sharding<@other, [{"x"}]>>'}}
  %0 = arith.negf %a : tensor<8xf32, #sgd.sharding<@other, [{"x"}]>>
  return
}

// -----

sgd.mesh @mesh = <["x"=2]>
func.func @unknown_axis(%a: tensor<8xf32, #sgd.sharding<@mesh, [{"z"}]>>) {
  // expected-error @below {{sharding names the unknown axis "z"}}
  %0 = arith.negf %a : tensor<8xf32, #sgd.sharding<@mesh, [{"z"}]>>
  return
}

// -----

// expected-error @below {{has no mesh after sharding}}
module {}
