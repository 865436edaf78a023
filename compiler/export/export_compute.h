// Launches, products, convolutions and tiles as the artifact has them.
#ifndef SGD_COMPILER_EXPORT_COMPUTE_H
#define SGD_COMPILER_EXPORT_COMPUTE_H

#include "compiler/export/export_program.h"
#include "compiler/export/export_slices.h"

namespace mlir::sgd {

artifact::LaunchT exportLaunch(plan::LaunchOp launch, SliceExporter& slices, const ExportContext& context);

// The others put an error on their op for an element type that artifacts do not have.
FailureOr<artifact::MatmulT> exportMatmul(plan::MatmulOp matmul, SliceExporter& slices);
FailureOr<artifact::ConvolutionT> exportConvolution(plan::ConvolutionOp convolution, SliceExporter& slices);
FailureOr<artifact::TiledT> exportTiled(plan::TiledOp tiled, SliceExporter& slices, const ExportContext& context);

}  // namespace mlir::sgd

#endif
