// RUN: sgd-opt %s --sgd-form-stages --verify-diagnostics

// Both rows are on stage 0, one of them in blocks of the batch.

sgd.mesh @mesh = <[]> {sgd.stages = #sgd<axis"stage"=2>, sgd.schedule = "gpipe"}

// expected-error@+1 {{argument 0 is of all layers, and differs between layers in how it is cut over ranks or parts of the batch; expected layers of one stage that are cut alike}}
func.func @step(%w0: tensor<1x4xf32> {sgd.name = "w", sgd.rows = array<i64: 0, 1>, sgd.stage = 0 : i64, sgd.whole = array<i64: 0, 2>},
                %w1: tensor<1x4xf32> {sgd.blocks = array<i64: 1, 2>, sgd.name = "w", sgd.rows = array<i64: 1, 1>, sgd.stage = 0 : i64, sgd.whole = array<i64: 0, 2>},
                %v: tensor<1x64xf32> {sgd.name = "v", sgd.stage = 1 : i64, sgd.whole = array<i64: 1, -1>},
                %x: tensor<1x4xf32> {sgd.name = "x", sgd.whole = array<i64: 2, -1>}) -> (tensor<1x4xf32> {sgd.whole = array<i64: 0, -1>}, tensor<1x64xf32> {sgd.whole = array<i64: 1, -1>}) {
  %a = arith.mulf %x, %w0 : tensor<1x4xf32>
  %b = arith.addf %a, %w1 : tensor<1x4xf32>
  %c = arith.mulf %v, %v : tensor<1x64xf32>
  return %b, %c : tensor<1x4xf32>, tensor<1x64xf32>
}
