// Programs without complete shardings are refused.
// RUN: sgd-opt %s --split-input-file --sgd-place-reductions --verify-diagnostics

sgd.mesh @mesh = <["x"=4]>
// expected-error @below {{type 'tensor<8xf32>' has no sharding; run sgd-shard before}}
func.func @none(%a: tensor<8xf32>) {
  return
}

// -----

sgd.mesh @mesh = <["x"=4]>
func.func @axis(%a: tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>>) {
  // expected-error @below {{sharding names the unknown axis "y"}}
  %0 = sgd.reshard %a : tensor<8xf32, #sgd.sharding<@mesh, [{"x"}]>> -> tensor<8xf32, #sgd.sharding<@mesh, [{"y"}]>>
  return
}
