// Pipelines whose stages do not fit together.
// RUN: sgd-opt %s --split-input-file --verify-diagnostics --sgd-verify-channels

!p = memref<8xf32, #plan.space<private>>

sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}
// expected-error @+1 {{program 'main': the stages' programs never end: stage 0's receive at }}
func.func @s0(%a: !p) attributes {sgd.stage = 0 : i64, sgd.program = "main"} {
  plan.receive channel 1 from stage 1 to %a : !p
  plan.send %a to stage 1 channel 0 : !p
  return
}
func.func @s1(%a: !p) attributes {sgd.stage = 1 : i64, sgd.program = "main"} {
  plan.receive channel 0 from stage 0 to %a : !p
  plan.send %a to stage 0 channel 1 : !p
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

// A message less than the other side expects, by trips.
sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}
func.func private @three(%a: !p) {
  plan.send %a to stage 1 channel 0 : !p
  return
}
func.func private @four(%a: !p) {
  plan.receive channel 0 from stage 0 to %a : !p
  return
}
// expected-error @+1 {{waits for a message of channel 0 from stage 0 to stage 1}}
func.func @s0(%a: !p) attributes {sgd.stage = 0 : i64, sgd.program = "main"} {
  plan.loop @three ins(%a : !p) iter_args() trips 3
  return
}
func.func @s1(%a: !p) attributes {sgd.stage = 1 : i64, sgd.program = "main"} {
  plan.loop @four ins(%a : !p) iter_args() trips 4
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}
// expected-error @+1 {{a message of channel 0 from stage 0 to stage 1 is never received}}
func.func @s0(%a: !p) attributes {sgd.stage = 0 : i64, sgd.program = "main"} {
  plan.send %a to stage 1 channel 0 depth 2 : !p
  plan.send %a to stage 1 channel 0 depth 2 : !p
  return
}
func.func @s1(%a: !p) attributes {sgd.stage = 1 : i64, sgd.program = "main"} {
  plan.receive channel 0 from stage 0 to %a : !p
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>
!q = memref<4xf32, #plan.space<private>>

sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}
func.func @s0(%a: !p) attributes {sgd.stage = 0 : i64, sgd.program = "main"} {
  plan.send %a to stage 1 channel 0 : !p
  return
}
func.func @s1(%a: !q) attributes {sgd.stage = 1 : i64, sgd.program = "main"} {
  // expected-error @+1 {{expects messages of another size than those of channel 0 from stage 0 to stage 1}}
  plan.receive channel 0 from stage 0 to %a : !q
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}
func.func @s0(%a: !p) attributes {sgd.stage = 0 : i64, sgd.program = "main"} {
  // expected-error @+1 {{sends what nothing receives: no op is the other end of channel 0 from stage 0 to stage 1}}
  plan.send %a to stage 1 channel 0 : !p
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}
func.func @s0(%a: !p) attributes {sgd.stage = 0 : i64, sgd.program = "main"} {
  plan.send %a to stage 1 channel 0 : !p
  return
}
func.func @s1(%a: !p) attributes {sgd.stage = 1 : i64, sgd.program = "main"} {
  plan.receive channel 0 from stage 0 to %a : !p
  // expected-error @+1 {{connects stage 1 with stage 0 by channel 0, which connects stage 0 with stage 1}}
  plan.send %a to stage 0 channel 0 : !p
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

// expected-error @+1 {{program 'main' has functions for 1 stages; expected one for each of 2}}
func.func @s0(%a: !p) attributes {sgd.stage = 0 : i64, sgd.program = "main"} {
  return
}
sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}

// -----

!p = memref<8xf32, #plan.space<private>>

func.func @nowhere(%a: !p) {
  // expected-error @+1 {{is in a function without a stage}}
  plan.send %a to stage 1 channel 0 : !p
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}
func.func private @branch(%a: !p) {
  plan.send %a to stage 1 channel 0 : !p
  return
}
func.func @s0(%i: memref<i32, #plan.space<private>>, %a: !p) attributes {sgd.stage = 0 : i64, sgd.program = "main"} {
  // expected-error @+1 {{sends or receives messages as data decides}}
  plan.case %i : memref<i32, #plan.space<private>> of [@branch] ins(%a : !p) outs()
  return
}
func.func @s1(%a: !p) attributes {sgd.stage = 1 : i64, sgd.program = "main"} {
  plan.receive channel 0 from stage 0 to %a : !p
  return
}

// -----

!p = memref<8xf32, #plan.space<private>>

sgd.mesh @mesh = <["stage"=2]> {sgd.stages = #sgd<axis"stage"=2>}
// expected-error @+1 {{program 'alike' has no stages on a mesh of stages}}
func.func @alike(%a: !p) {
  return
}
