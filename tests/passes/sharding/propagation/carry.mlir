// RUN: sgd-opt %s --sgd-shard --split-input-file | FileCheck %s

// A result takes the sharding of the argument that it is on the next step.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @carried
// CHECK-SAME: -> (tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> {sgd.carry = 0 : i64
func.func @carried(%a: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x4xf32> {sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x4xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "names"}) {
  // CHECK: sgd.reshard {{.*}} -> tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>>
  %0 = arith.negf %b : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Not that of the argument whose memory it takes, where this is another one.
sgd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @not_aliased
// CHECK-SAME: -> (tensor<8x4xf32, #sgd.sharding<@mesh, [{}, {"x"}]>> {sgd.carry = 1 : i64{{.*}}}, tensor<8x4xf32, #sgd.sharding<@mesh, [{"x"}, {}]>> {sgd.carry = 0 : i64
func.func @not_aliased(
    %a: tensor<8x4xf32> {sgd.alias_output = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<8x4xf32> {sgd.alias_output = 1 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8x4xf32> {sgd.carry = 1 : i64, sgd.carry_basis = "names"}, tensor<8x4xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "names"}) {
  %0 = arith.negf %b : tensor<8x4xf32>
  %1 = arith.negf %a : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// The user's sharding of a result goes first; what is sharded otherwise than its argument is not carried without being
// asked for. An alias is only a permission to use memory, and no obstacle.
sgd.mesh @mesh = <["x"=4]>
// CHECK-LABEL: @resharded
// CHECK-SAME: sgd.carry_candidate = 0 : i64, sgd.carry_doubt = "the result is sharded as #sgd.sharding<@mesh, [{\22x\22}]>, the argument as #sgd.sharding<@mesh, [{}]>"
// CHECK-NOT: sgd.carry =
// CHECK: return
func.func @resharded(%a: tensor<8xf32> {sgd.name = "w", sgd.alias_output = 0 : i64, sgd.sharding = #sgd.sharding<@mesh, [{}]>})
    -> (tensor<8xf32> {sgd.carry = 0 : i64, sgd.carry_basis = "names", sgd.sharding = #sgd.sharding<@mesh, [{"x"}]>}) {
  return %a : tensor<8xf32>
}
