// RUN: sgd-opt %s --split-input-file --verify-diagnostics

!x = tensor<8x64x16xf32>
!row = tensor<8x64xf32>
func.func @query_without_rows(%x: !x) {
  // expected-error @+1 {{query cannot have a dimension with label 1}}
  fusion.attention %x [4, 0, 1], %x [4, 1, 2], %x [4, 1, 3] into [4, 0, 3] scale = 1.0 : (!x, !x, !x) -> (!x, !row, !row)
  return
}

// -----

!x = tensor<8x64x16xf32>
!row = tensor<8x64xf32>
func.func @sizes_differ(%x: !x, %k: tensor<8x64x12xf32>) {
  // expected-error @+1 {{key has 12 elements along label 2, others 16}}
  fusion.attention %x [4, 0, 2], %k [4, 1, 2], %x [4, 1, 3] into [4, 0, 3] scale = 1.0 : (!x, tensor<8x64x12xf32>, !x) -> (!x, !row, !row)
  return
}

// -----

!x = tensor<8x64x16xf32>
!row = tensor<8x64xf32>
func.func @value_of_other_batch(%x: !x, %v: tensor<64x16xf32>) {
  // expected-error @+1 {{key and value differ in their batch dimensions}}
  fusion.attention %x [4, 0, 2], %x [4, 1, 2], %v [1, 3] into [4, 0, 3] scale = 1.0 : (!x, !x, tensor<64x16xf32>) -> (!x, !row, !row)
  return
}

// -----

!x = tensor<8x64x16xf32>
!row = tensor<8x64xf32>
func.func @statistics_of_another_shape(%x: !x) {
  // expected-error @+1 {{needs f32 of shape [8, 64] for each statistic of rows}}
  fusion.attention %x [4, 0, 2], %x [4, 1, 2], %x [4, 1, 3] into [4, 0, 3] scale = 1.0 : (!x, !x, !x) -> (!x, tensor<64x8xf32>, !row)
  return
}

// -----

!x = tensor<8x64x16xf32>
!row = tensor<8x64xf32>
func.func @mask_of_numbers(%x: !x, %m: tensor<64xi8>) {
  // expected-error @+1 {{needs a mask of booleans}}
  fusion.attention %x [4, 0, 2], %x [4, 1, 2], %x [4, 1, 3] mask %m [1] fill = -1.0 into [4, 0, 3] scale = 1.0 : (!x, !x, !x, tensor<64xi8>) -> (!x, !row, !row)
  return
}

// -----

!x = tensor<8x64x16xf32>
!row = tensor<8x64xf32>
func.func @diagonal_hides_rows(%x: !x) {
  // expected-error @+1 {{the diagonal leaves rows without a column}}
  fusion.attention %x [4, 0, 2], %x [4, 1, 2], %x [4, 1, 3] into [4, 0, 3] scale = 1.0 diagonal = -1 : (!x, !x, !x) -> (!x, !row, !row)
  return
}

// -----

!x = tensor<8x64x16xf32>
!row = tensor<8x64xf32>
func.func @gradient_of_another_batch(%x: !x, %r: !row) {
  // expected-error @+1 {{a gradient has other batch dimensions than its operand}}
  fusion.attention_query_gradient %x [4, 0, 2], %x [4, 1, 2], %x [4, 1, 3], %x [4, 0, 3] with %r, %r, %r into [0, 2] scale = 1.0
    : (!x, !x, !x, !x, !row, !row, !row) -> tensor<64x16xf32>
  return
}
