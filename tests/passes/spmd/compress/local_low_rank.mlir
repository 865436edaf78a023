// Factors of low rank, and the state that the next step begins with.
// RUN: sgd-opt %s --split-input-file --sgd-compress-reductions --sgd-localize --canonicalize --cse --spmd-combine-collectives --spmd-verify | FileCheck %s

!p = tensor<24x40xf32, #sgd.sharding<@mesh, [{}, {"model"}], unreduced={"data"}>>
!w = tensor<24x40xf32, #sgd.sharding<@mesh, [{}, {"model"}]>>
!q = tensor<2x12x16xf32, #sgd.sharding<@mesh, [{}, {}, {}], unreduced={"data"}>>
!v = tensor<2x12x16xf32, #sgd.sharding<@mesh, [{}, {}, {}]>>
!r = tensor<40xf32, #sgd.sharding<@mesh, [{}], unreduced={"data"}>>
!u = tensor<40xf32, #sgd.sharding<@mesh, [{}]>>

module attributes {sgd.compress = {data = {kind = "powersgd", rank = 3 : i64}}} {
sgd.mesh @mesh = <["data"=4, "model"=2]>

// Each shard has factors of its own; a vector is no matrix. Both matrices are made orthonormal at once, and each of two collectives is for both.
// CHECK-LABEL: func.func @factors
// CHECK-SAME: tensor<1x24x20xf32> {{{.*}}sgd.name = "compress/error/w"
// CHECK-SAME: tensor<1x20x3xf32> {{{.*}}sgd.global_type = tensor<2x20x3xf32>, sgd.name = "compress/factor/w", sgd.sharding = #sgd.sharding<@mesh, [{"model"}, {}, {}]>
// CHECK-SAME: tensor<1x2x12x16xf32> {{{.*}}sgd.name = "compress/error/v"
// CHECK-SAME: tensor<1x16x3xf32> {{{.*}}sgd.name = "compress/factor/v", sgd.sharding = #sgd.sharding<@mesh, [{}, {}, {}]>
// CHECK-SAME: why = "as a matrix it has no more rows or columns than the rank"
// CHECK: sgd.dot_general {{.*}} : tensor<24x20xf32>, tensor<20x3xf32> -> tensor<24x3xf32>
// CHECK: sgd.dot_general {{.*}} : tensor<24x16xf32>, tensor<16x3xf32> -> tensor<24x3xf32>
// CHECK: spmd.all_reduce add({{.*}}) <@mesh, {"data"}> {{.*}} (tensor<24x3xf32>, tensor<24x3xf32>)
// CHECK: sgd.concatenate {{.*}} -> tensor<2x3x3xf32>
// CHECK: spmd.all_reduce add({{.*}}) <@mesh, {"data"}> {{.*}} (tensor<20x3xf32>, tensor<16x3xf32>)
// CHECK-DAG: sgd.dot_general {{.*}} : tensor<24x3xf32>, tensor<20x3xf32> -> tensor<24x20xf32>
// CHECK-DAG: spmd.all_reduce {{.*}} (tensor<40xf32>)
func.func @factors(%w: !w {sgd.name = "w"}, %v: !v {sgd.name = "v"}, %u: !u {sgd.name = "u"}, %p: !p, %q: !q, %r: !r)
    -> (!w {sgd.carry = 0 : i64}, !v {sgd.carry = 1 : i64}, !u {sgd.carry = 2 : i64}) {
  %g = sgd.reshard %p : !p -> !w
  %0 = arith.subf %w, %g : !w
  %h = sgd.reshard %q : !q -> !v
  %1 = arith.subf %v, %h : !v
  %i = sgd.reshard %r : !r -> !u
  %2 = arith.subf %u, %i : !u
  return %0, %1, %2 : !w, !v, !u
}
}

// -----

!p = tensor<32x64xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!t = tensor<64x32xf32, #sgd.sharding<@mesh, [{}, {}]>>
!w = tensor<32x64xf32, #sgd.sharding<@mesh, [{}, {}]>>

module attributes {sgd.compress = {data = {kind = "bf16"}}} {
sgd.mesh @mesh = <["data"=4]>

// A transposed gradient is transposed first, where a matmul can write it so.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[T:.*]] = sgd.transpose %arg1 permutation = [1, 0]
// CHECK: arith.truncf %[[T]] : tensor<64x32xf32> to tensor<64x32xbf16>
func.func @transposed(%w: !t {sgd.name = "w"}, %p: !p) -> (!t {sgd.carry = 0 : i64}) {
  %g = sgd.reshard %p : !p -> !w
  %h = sgd.transpose %g permutation = [1, 0] : !w -> !t
  %0 = arith.subf %w, %h : !t
  return %0 : !t
}
}
