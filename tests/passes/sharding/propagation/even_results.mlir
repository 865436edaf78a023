// RUN: sgd-opt %s --sgd-shard --split-input-file | FileCheck %s

// A result keeps the axes that divide its dimensions.
sgd.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: @even
// CHECK-SAME: -> (tensor<6x7xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
func.func @even(%a: tensor<6x7xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<6x7xf32> attributes {sgd.even_results} {
  // CHECK: %[[VALUE:.*]] = math.exp {{.*}} : tensor<6x7xf32, #sgd.sharding<@mesh, [{"x", "y"}, {}]>>
  // CHECK: sgd.reshard %[[VALUE]]
  %0 = math.exp %a : tensor<6x7xf32>
  return %0 : tensor<6x7xf32>
}

// -----

// What the user has written stays, and so does everything where nobody asks for it.
sgd.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @written
// CHECK-SAME: -> (tensor<6xf32, #sgd.sharding<@mesh, [{"x"}]>>
func.func @written(%a: tensor<6xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> (tensor<6xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) attributes {sgd.even_results} {
  %0 = math.exp %a : tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-LABEL: @not_asked
// CHECK-SAME: -> (tensor<6xf32, #sgd.sharding<@mesh, [{"x"}]>>
func.func @not_asked(%a: tensor<6xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) -> tensor<6xf32> {
  %0 = math.exp %a : tensor<6xf32>
  return %0 : tensor<6xf32>
}
