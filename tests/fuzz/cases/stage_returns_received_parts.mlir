// Parts of a slice that another stage sends are returned, and what is sliced is not here.
// seed: 0
// arg2: -2..7
sgd.mesh @mesh = <["x"=2]> {sgd.sequential = #sgd<axis"micro"=2>, sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "gpipe"}
func.func @main(%a0: tensor<6xi1> {sgd.sharding = #sgd.sharding<@mesh, [{}], replicated={"x"}>, sgd.sequential_dim = 0 : i64},
    %a1: tensor<0xi1> {sgd.sharding = #sgd.sharding<@mesh, [{}]>, sgd.stage = 1 : i64},
    %a2: tensor<i32> {sgd.sharding = #sgd.sharding<@mesh, []>}) -> (tensor<6xi1> {sgd.sharding = #sgd.sharding<@mesh, [{}], replicated={"x"}>}) {
  %v0 = sgd.dynamic_update_slice %a0, %a1, %a2 : (tensor<6xi1>, tensor<0xi1>, tensor<i32>) -> tensor<6xi1>
  return %v0 : tensor<6xi1>
}
