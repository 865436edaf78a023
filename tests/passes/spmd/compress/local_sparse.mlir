// The elements of largest magnitude, with their positions.
// RUN: sgd-opt %s --split-input-file --sgd-compress-reductions --sgd-localize --canonicalize --cse --spmd-combine-collectives --spmd-verify | FileCheck %s

!p = tensor<24x40xf32, #sgd.sharding<@mesh, [{}, {}], unreduced={"data"}>>
!w = tensor<24x40xf32, #sgd.sharding<@mesh, [{}, {"data"}]>>

module attributes {sgd.compress = {data = {kind = "top_k", share = 0.02}}} {
sgd.mesh @mesh = <["data"=4]>

// 2 % of 960 elements. A rank's shard of the sum is cut from the whole.
// CHECK-LABEL: func.func @largest
// CHECK-SAME: %[[E:arg[0-9]+]]: tensor<1x24x40xf32> {{{.*}}sgd.name = "compress/error/w"
// CHECK-SAME: sgd.decisions = [{{.*}}axes = ["data"], bytes = 456 : i64
// CHECK-DAG: %[[DUE:.*]] = sgd.reshape %{{.*}} : tensor<24x40xf32> -> tensor<960xf32>
// CHECK-DAG: %[[SIZE:.*]] = math.absf %[[DUE]]
// CHECK: %{{.*}}, %[[AT:.*]] = sgd.top_k %[[SIZE]] k = 19
// CHECK: %[[SENT:.*]] = sgd.gather %[[DUE]], %[[AT]]
// CHECK: %[[REST:.*]] = sgd.scatter set %[[DUE]], %[[AT]]
// CHECK: %[[ALL:.*]]:2 = spmd.all_gather(%[[SENT]], %[[AT]]) dims = [0, 0] <@mesh, {"data"}> {{.*}} (tensor<19xf32>, tensor<19xi32>) -> (tensor<76xf32>, tensor<76xi32>)
// CHECK: sgd.scatter add %{{.*}}, %[[ALL]]#1, %[[ALL]]#0
// CHECK: spmd.shard_slice %{{.*}} dim = 1 <@mesh, {"data"}> : tensor<24x40xf32> -> tensor<24x10xf32>
// CHECK-NOT: spmd.
func.func @largest(%w: !w {sgd.name = "w"}, %p: !p) -> (!w {sgd.carry = 0 : i64}) {
  %g = sgd.reshard %p : !p -> !w
  %0 = arith.subf %w, %g : !w
  return %0 : !w
}
}
