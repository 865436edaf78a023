// RUN: sgd-opt %s --sgd-align-rows | FileCheck %s

sgd.mesh @mesh = <["data"=2]>

// The second rows were found to be whole: they come and go as the first ones do.

// CHECK-LABEL: func.func @step
// CHECK-SAME: %{{.+}}: tensor<2x8xf32, #[[CUT:.+]]> {sgd.rows = array<i64: 0, 2>, sgd.sharding = #[[CUT]], sgd.whole = array<i64: 0, 3>}
// CHECK-SAME: %[[SECOND:.+]]: tensor<1x8xf32, #[[CUT]]> {sgd.rows = array<i64: 2, 1>, sgd.sharding = #[[CUT]], sgd.whole = array<i64: 0, 3>}
// CHECK-SAME: %{{.+}}: tensor<1x8xf32, #[[WHOLE:.+]]> {sgd.sharding = #[[WHOLE]], sgd.whole = array<i64: 1, -1>}
// CHECK-SAME: -> (tensor<2x8xf32, #[[CUT]]> {sgd.carry = 0 : i64, {{.*}}}, tensor<1x8xf32, #[[CUT]]> {sgd.carry = 1 : i64, {{.*}}sgd.sharding = #[[CUT]]
// CHECK: %[[THERE:.+]] = sgd.reshard %[[SECOND]] : tensor<1x8xf32, #[[CUT]]> -> tensor<1x8xf32, #[[WHOLE]]>
// CHECK: %[[NEXT:.+]] = math.exp %[[THERE]]
// CHECK: %[[BACK:.+]] = sgd.reshard %[[NEXT]] : tensor<1x8xf32, #[[WHOLE]]> -> tensor<1x8xf32, #[[CUT]]>
// CHECK: return %{{.+}}, %[[BACK]] :
#cut = #sgd.sharding<@mesh, [{}, {"data"}]>
#whole = #sgd.sharding<@mesh, [{}, {}]>
func.func @step(%a: tensor<2x8xf32, #cut> {sgd.rows = array<i64: 0, 2>, sgd.sharding = #cut, sgd.whole = array<i64: 0, 3>},
                %b: tensor<1x8xf32, #whole> {sgd.rows = array<i64: 2, 1>, sgd.sharding = #whole, sgd.whole = array<i64: 0, 3>},
                %other: tensor<1x8xf32, #whole> {sgd.sharding = #whole, sgd.whole = array<i64: 1, -1>})
    -> (tensor<2x8xf32, #cut> {sgd.carry = 0 : i64, sgd.rows = array<i64: 0, 2>, sgd.sharding = #cut, sgd.whole = array<i64: 0, 3>},
        tensor<1x8xf32, #whole> {sgd.carry = 1 : i64, sgd.rows = array<i64: 2, 1>, sgd.sharding = #whole, sgd.whole = array<i64: 0, 3>}) {
  %0 = math.exp %a : tensor<2x8xf32, #cut>
  %1 = math.exp %b : tensor<1x8xf32, #whole>
  return %0, %1 : tensor<2x8xf32, #cut>, tensor<1x8xf32, #whole>
}
