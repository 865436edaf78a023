// A contraction or a convolution as libraries are asked about it.
#ifndef SGD_PASSES_KERNELS_EPILOGUES_LIBRARY_CANDIDATE_H
#define SGD_PASSES_KERNELS_EPILOGUES_LIBRARY_CANDIDATE_H

#include "dialects/fusion/fusion_dialect.h"
#include "passes/kernels/epilogues/epilogues.h"

namespace mlir::sgd {

class LibraryCandidate {
 public:
  /// `op` is a matmul or convolution.
  LibraryCandidate(Operation* op, const LibraryModel& libraries);

  static bool isCandidate(Operation* op) { return isa<fusion::MatmulOp, fusion::ConvolutionOp>(op); }

  /// Whether it is computed by a single call of its own: no tile takes it, and nothing is left to other calls.
  bool isOneCall() const { return matmul || convolution; }

  /// Elements of a bias, where column j of the result is exactly the elements whose number modulo the
  /// columns is j; 0: columns are laid out in another way.
  int64_t getColumns() const { return matmul ? getMatmulColumns() : getConvolutionColumns(); }

  /// Whether the call may have the epilogue.
  bool isTaken(const fusion::Epilogue& epilogue) const;

  /// The result of the call with the epilogue, at the builder's place.
  Value create(OpBuilder& builder, const EpilogueOperands& operands, const fusion::Epilogue& epilogue) const;

 private:
  void prepare(fusion::MatmulOp op);
  void prepare(fusion::ConvolutionOp op);
  int64_t getMatmulColumns() const;
  int64_t getConvolutionColumns() const;

  Operation* op;
  const LibraryModel& libraries;
  std::optional<MatmulCall> matmul;
  std::optional<ConvolutionCall> convolution;
};

}  // namespace mlir::sgd

#endif
