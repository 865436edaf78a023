// RUN: sgd-opt %s --sgd-shard --sgd-verify-sharding --split-input-file | FileCheck %s

// Each use of a constant has its own sharding; scalars and broadcasts of them are constants.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @per_use
func.func @per_use(%a: tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %c = arith.constant dense<2.0> : tensor<f32>
  %cb = sgd.broadcast_in_dim %c dims = [] : tensor<f32> -> tensor<8x8xf32>
  // CHECK-NOT: broadcast_in_dim
  // CHECK: arith.constant dense<2.0{{.*}}> : tensor<8x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  // CHECK: arith.mulf {{.*}} : tensor<8x8xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %0 = arith.mulf %a, %cb : tensor<8x8xf32>
  // CHECK: arith.constant dense<2.0{{.*}}> : tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>
  // CHECK: arith.mulf {{.*}} : tensor<8x8xf32, #sgd.sharding<@mesh, [{}, {"x"}]>>
  %1 = arith.mulf %b, %cb : tensor<8x8xf32>
  // CHECK-NOT: reshard
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// So do tables and iotas.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @tables
func.func @tables(%a: tensor<4xi32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}, %b: tensor<4xi32> {sgd.sharding = #sgd.sharding<@mesh, [{}]>}) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %table = arith.constant dense<[3, 1, 4, 1]> : tensor<4xi32>
  %iota = sgd.iota dimension = 0 : tensor<4xi32>
  // CHECK-DAG: arith.constant dense<[3, 1, 4, 1]> : tensor<4xi32, #sgd.sharding<@mesh, [{"x"}]>>
  // CHECK-DAG: arith.constant dense<[3, 1, 4, 1]> : tensor<4xi32, #sgd.sharding<@mesh, [{}]>>
  // CHECK-DAG: sgd.iota dimension = 0 : tensor<4xi32, #sgd.sharding<@mesh, [{"x"}]>>
  // CHECK-NOT: reshard
  %0 = arith.addi %a, %table : tensor<4xi32>
  %1 = arith.addi %a, %iota : tensor<4xi32>
  %2 = arith.addi %b, %table : tensor<4xi32>
  %3 = sgd.sharding_constraint %2 <@mesh, [{}]> : tensor<4xi32>
  return %0, %1, %3 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// -----

// Two constants of one user.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @one_user
func.func @one_user(%a: tensor<4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %d = arith.constant dense<2.0> : tensor<4xf32>
  // CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<4xf32, #sgd.sharding<@mesh, [{"x"}]>>
  %0 = arith.addf %c, %d : tensor<4xf32>
  %1 = arith.mulf %0, %a : tensor<4xf32>
  return %1 : tensor<4xf32>
}
