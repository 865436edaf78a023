// A rank that draws more numbers than others leaves a manual computation with another counter: all go on with the largest.
// seed: 1
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a0: tensor<2xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %a1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xf32>, tensor<3xf32>) {
  %low = stablehlo.constant dense<0.0> : tensor<f32>
  %high = stablehlo.constant dense<1.0> : tensor<f32>
  %sizes = stablehlo.constant dense<[3]> : tensor<1xi64>
  %v0 = sdy.manual_computation(%a0, %a1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<1xi1>, %b: tensor<2xf32>) {
    %c = stablehlo.reshape %p : (tensor<1xi1>) -> tensor<i1>
    %r = "stablehlo.if"(%c) ({
      %two = stablehlo.constant dense<[2]> : tensor<1xi64>
      %l = stablehlo.constant dense<0.0> : tensor<f32>
      %h = stablehlo.constant dense<1.0> : tensor<f32>
      %n = stablehlo.rng %l, %h, %two, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
      stablehlo.return %n : tensor<2xf32>
    }, {
      stablehlo.return %b : tensor<2xf32>
    }) : (tensor<i1>) -> tensor<2xf32>
    sdy.return %r : tensor<2xf32>
  } : (tensor<2xi1>, tensor<4xf32>) -> tensor<4xf32>
  %v1 = stablehlo.rng %low, %high, %sizes, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  return %v0, %v1 : tensor<4xf32>, tensor<3xf32>
}
