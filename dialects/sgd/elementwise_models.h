// External models of interfaces for all ops that compute elements from elements.
#ifndef SGD_DIALECTS_SGD_ELEMENTWISE_MODELS_H
#define SGD_DIALECTS_SGD_ELEMENTWISE_MODELS_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::sgd {

template <template <typename> class Model, typename... Ops>
void attachToElementwise(MLIRContext& context) {
  auto attach = [&]<typename Op>() {
    if constexpr (Op::template hasTrait<OpTrait::Elementwise>()) Op::template attachInterface<Model<Op>>(context);
  };
  (attach.template operator()<Ops>(), ...);
}

/// Attaches `Model<Op>` to each elementwise op of arith, math and sgd when its dialect is loaded.
template <template <typename> class Model>
void registerElementwiseModels(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, arith::ArithDialect*) {
    attachToElementwise<Model,
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
                        >(*context);
  });
  registry.addExtension(+[](MLIRContext* context, math::MathDialect*) {
    attachToElementwise<Model,
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
                        >(*context);
  });
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    attachToElementwise<Model,
#define GET_OP_LIST
#include "dialects/sgd/sgd_ops.cpp.inc"
                        >(*context);
  });
}

}  // namespace mlir::sgd

#endif
