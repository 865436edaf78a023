// Verifiers of the input ops: a malformed program is reported, whatever is done with it afterwards.
// RUN: sgd-opt %s -split-input-file -verify-diagnostics

func.func @types(%x: tensor<4xf32>, %y: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.add' op expects operands and result of one type}}
  %0 = stablehlo.add %x, %y : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @float_only(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{'stablehlo.exponential' op operand #0 must be ranked tensor of floating-point}}
  %0 = stablehlo.exponential %x : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @compare(%x: tensor<4xi32>) -> tensor<4xi1> {
  // expected-error@+1 {{cannot compare elements of type 'i32' as FLOAT; expected SIGNED or UNSIGNED for integers, FLOAT or TOTALORDER for others; correct the comparison's type}}
  %0 = stablehlo.compare LT, %x, %x, FLOAT : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @select(%p: tensor<3xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the predicate 'tensor<3xi1>'; expected a scalar predicate or one of shape [4]; broadcast it}}
  %0 = stablehlo.select %p, %x, %x : tensor<3xi1>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @clamp(%low: tensor<2xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the bound 'tensor<2xf32>'; expected a scalar or the operand's type 'tensor<4xf32>'; broadcast the bound}}
  %0 = stablehlo.clamp %low, %x, %low : (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @bitcast(%x: tensor<3xui8>) -> tensor<f32> {
  // expected-error@+1 {{cannot join elements of 'tensor<3xui8>' to elements of 'f32'; expected a last dimension that fills one element; reshape the operand}}
  %0 = stablehlo.bitcast_convert %x : (tensor<3xui8>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @constant() -> tensor<3xf32> {
  // expected-error@+1 {{holds a value of type 'tensor<2xf32>' for a result of type 'tensor<3xf32>'; expected one type; correct the result's type}}
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @iota() -> tensor<3xf32> {
  // expected-error@+1 {{'dim' names dimension 1 of a tensor of rank 1}}
  %0 = stablehlo.iota dim = 1 : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @broadcast_dims(%x: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{has 2 values in 'dims'; expected 1; give as many}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @broadcast_size(%x: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{cannot broadcast dimension 0 of size 3 to size 4; expected one size, or size 1; correct the result's shape or dims}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @transpose(%x: tensor<3x4xf32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{'dims' names dimension 1 twice; expected each once; drop one}}
  %0 = stablehlo.transpose %x, dims = [1, 1] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @reshape(%x: tensor<3x4xf32>) -> tensor<11xf32> {
  // expected-error@+1 {{changes the number of elements from 12 to 11; expected as many; correct the result's shape}}
  %0 = stablehlo.reshape %x : (tensor<3x4xf32>) -> tensor<11xf32>
  return %0 : tensor<11xf32>
}

// -----

func.func @slice(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{range 3:5:1 is not inside dimension 0 of 'tensor<4xf32>'; expected 0 <= start <= limit <= size and a stride above 0; correct the range}}
  %0 = stablehlo.slice %x [3:5] : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @slice_result(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{has a result of type 'tensor<3xf32>'; expected 'tensor<2xf32>'; correct the result's type}}
  %0 = stablehlo.slice %x [0:4:2] : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @pad(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  // expected-error@+1 {{padding of dimension 0 leaves a size that is negative or cannot be counted, or is negative between elements; expected a size from 0 to 2^63 - 1; correct low, high or interior}}
  %0 = stablehlo.pad %x, %v, low = [-3], high = [-2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @huge_pad(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  // expected-error@+1 {{padding of dimension 0 leaves a size that is negative or cannot be counted}}
  %0 = stablehlo.pad %x, %v, low = [0], high = [0], interior = [9223372036854775807] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @concatenate(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) -> tensor<8x2xf32> {
  // expected-error@+1 {{differ outside dimension 0; expected one rank, one element type and equal other sizes; reshape or convert the operands}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

func.func @dynamic_slice(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<5xf32> {
  // expected-error@+1 {{a slice of [5] is larger than 'tensor<4xf32>'; expected at most its sizes; correct slice_sizes}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @dynamic_update_slice(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  // expected-error@+1 {{has 2 start indices; expected 1, one per dimension; give as many}}
  %0 = stablehlo.dynamic_update_slice %x, %x, %i, %i : (tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @dot_sizes(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{contracting dimensions have sizes 3 and 4; expected equal sizes; correct contracting_dims}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @dot_dims(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{lhs names dimension 2 of a tensor of rank 2; expected dimensions of the tensor, counted from 0; correct the list}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [2] x [0] : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @gather(%x: tensor<4x8xf32>, %i: tensor<4x1xi32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{has 2 values in start_index_map; expected 1; give as many}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @reduce_dims(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'dimensions' names dimension 1 of a tensor of rank 1}}
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @reduce_body(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{has block arguments of types 'tensor<f32>'; expected 'tensor<f32>', 'tensor<f32>'; correct the body's arguments}}
  %0 = "stablehlo.reduce"(%x, %init) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @reduce_return(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %init) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // expected-error@+1 {{returns ; expected 'tensor<f32>' in 'stablehlo.reduce'; return values of these types}}
    stablehlo.return
  }
  return %0 : tensor<f32>
}

// -----

func.func @scatter(%x: tensor<4x8xf32>, %i: tensor<4x1xi32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected each dimension of the operand and of the updates once; correct scatter_dimension_numbers}}
  %0 = "stablehlo.scatter"(%x, %i, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @while(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.while(%a = %x) : tensor<f32> cond {
    // expected-error@+1 {{returns 'tensor<f32>'; expected 'tensor<i1>' in 'stablehlo.while'; return values of these types}}
    stablehlo.return %a : tensor<f32>
  } do {
    stablehlo.return %a : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @manual(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected 1 of both, one per operand; give as many}}
  %0 = sdy.manual_computation(%x) in_shardings=[] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
    sdy.return %a : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{lists 3 device ids for 2 devices; expected one for each, or none; correct device_ids}}
sdy.mesh @mesh = <["x"=2], device_ids=[0, 1, 2]>
