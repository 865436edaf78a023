// Refuses unsupported ops with the op, its place and what to do instead.
// RUN: sgd-opt %s -sgd-import-stablehlo -split-input-file -verify-diagnostics

func.func @callback(%x: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call' @xla_python_callback is not supported yet}}
  stablehlo.custom_call @xla_python_callback(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @accumulator(%x: tensor<4xf32>, %init: tensor<f64>) -> tensor<f64> {
  // expected-error@+1 {{'stablehlo.reduce' is not supported with a body of several ops and an accumulator of another type than its input}}
  %0 = stablehlo.reduce(%x init: %init) across dimensions = [0] : (tensor<4xf32>, tensor<f64>) -> tensor<f64>
   reducer(%a: tensor<f64>, %b: tensor<f64>) {
    %1 = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %1 : tensor<f64>
  }
  return %0 : tensor<f64>
}

// -----

func.func @body(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %init) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.add %a, %b : tensor<f32>
    // expected-error@+1 {{'stablehlo.broadcast_in_dim' in the body of a reduction is on tensors; expected scalars; write the reduction of one element}}
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %3 = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

func.func @accuracy(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.tanh' asks for a result_accuracy, which is not supported}}
  %0 = stablehlo.tanh %x {result_accuracy = #stablehlo.result_accuracy<ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @state(%s: tensor<3xui64>) -> tensor<4xui32> {
  // expected-error@+1 {{'stablehlo.rng_bit_generator' needs a state of two ui64, has 'tensor<3xi64>'}}
  %state, %bits = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return %bits : tensor<4xui32>
}

// -----

func.func @many_updates(%x: tensor<4xf32>, %i: tensor<1000x1xi32>, %u: tensor<1000xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.scatter' applies a body of its own to 1000 updates that may meet, supported are up to 256; give unique_indices=True}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.tanh %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<1000x1xi32>, tensor<1000xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @top_k_call(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  // expected-error@+1 {{@mhlo.topk needs one operand and an integer 'k' in mhlo.attributes}}
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// -----

func.func @decomposition(%x: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  // expected-error@+1 {{'stablehlo.cholesky' has elements of 'bf16'; expected f32 or f64; convert them}}
  %0 = stablehlo.cholesky %x, lower = true : tensor<4x4xbf16>
  return %0 : tensor<4x4xbf16>
}

// -----

func.func @decomposition_of_rows(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // expected-error@+1 {{'stablehlo.cholesky' is cholesky of 4 rows and 5 columns, not a square; expected shapes and options that it is defined for; correct them}}
  %0 = stablehlo.cholesky %x, lower = true : tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

func.func @solve(%a: tensor<4x4xf32>, %b: tensor<5x2xf32>) -> tensor<5x2xf32> {
  // expected-error@+1 {{'stablehlo.triangular_solve' has 'tensor<4x4xf32>' as operand 0, a; expected 'tensor<5x5xf32>'; convert or reshape it}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
    : (tensor<4x4xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// -----

func.func @accumulator(%a: tensor<4xf32>) -> tensor<f32> {
  // expected-error@+1 {{with an f64 accumulator and a narrower result is not supported}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = f64, rhs_precision_type = f64, accumulation_type = f64> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-error@+1 {{argument 0 has type 'tensor<?xf32>'; dynamic shapes are not supported, export with concrete shapes}}
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

func.func @inner_dynamic(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{result 0 of 'stablehlo.slice' has type 'tensor<?xf32>'; dynamic shapes are not supported}}
  %0 = stablehlo.slice %x [0:2] : (tensor<4xf32>) -> tensor<?xf32>
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{argument 0 has type 'tensor<4611686018427387904x4xf32>'; no machine holds that many elements}}
func.func @huge(%x: tensor<4611686018427387904x4xf32>) {
  return
}

// -----

func.func @divide_booleans(%x: tensor<4xi1>) -> tensor<4xi1> {
  // expected-error@+1 {{'stablehlo.divide' is not supported on elements of type 'i1'}}
  %0 = stablehlo.divide %x, %x : tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'f' calls itself; recursion is not supported}}
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The body of a loop is followed through its calls before it is known that they end.
func.func public @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %0:2 = stablehlo.while(%i = %n, %sum = %x) : tensor<i32>, tensor<4xf32> cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1:2 = func.call @body(%i, %sum) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
    stablehlo.return %1#0, %1#1 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
func.func private @body(%i: tensor<i32>, %sum: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
  // expected-error@+1 {{'body' calls itself; recursion is not supported}}
  %0:2 = call @body(%i, %sum) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<i32>, tensor<4xf32>
}

// -----

func.func private @external(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'external' has no body}}
  %0 = call @external(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{has no public function; expected one to compile; make the program's function public}}
module {
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.composite' names the unknown function @nowhere}}
  %0 = stablehlo.composite "a.b" %x {decomposition = @nowhere} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @convolution_groups(%x: tensor<1x4x4x6xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x2x2x4xf32> {
  // expected-error@+1 {{'stablehlo.convolution' has group counts that do not divide its features}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x4x4x6xf32>, tensor<3x3x2x4xf32>) -> tensor<1x2x2x4xf32>
  return %0 : tensor<1x2x2x4xf32>
}
