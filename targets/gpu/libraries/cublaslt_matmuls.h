// Which matmuls cuBLASLt takes, and how, said without it.
#ifndef SGD_TARGETS_GPU_LIBRARIES_CUBLASLT_MATMULS_H
#define SGD_TARGETS_GPU_LIBRARIES_CUBLASLT_MATMULS_H

#include "passes/kernels/library/library_model.h"

namespace mlir::sgd::gpu {

/// Floats of one type; of f8, two kinds that are not both E5M2, into f32, bf16 or f16 (cublasLtMatmul's table of FP8
/// kernels), where all these compute capabilities (90 for 9.0) have the type.
bool multipliesByCublasLt(Type lhs, Type rhs, Type result, ArrayRef<int> capabilities);

/// Operands have the narrowest type that holds all elements, the wanted result's included, or their own where the
/// result is the type of their sums. Floats of 8 bits become f16 or bf16.
CallTypes getCublasLtTypes(Type lhs, Type rhs, Type result);

/// Whether cublasLtMatmul computes it with its epilogue, as the graph means that.
bool isCublasLtMatmul(const MatmulCall& call, ArrayRef<int> capabilities);

/// Bytes of a workspace for a matmul whose operands and result are `touchedBytes` together: copies of them in another
/// order, and parts of sums, which are no more than the operands are where a sum is worth cutting.
int64_t getCublasLtWorkspace(int64_t touchedBytes, ArrayRef<int> capabilities);

}  // namespace mlir::sgd::gpu

#endif
