// Dense attributes to constants of LLVM.
#include "targets/kernels/table_data.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

llvm::Constant* mlir::sgd::kernels::tableData(DenseElementsAttr table, llvm::LLVMContext& context) {
  Type type = table.getElementType();
  SmallVector<llvm::Constant*> elements;
  for (Attribute element : table.getValues<Attribute>()) {
    APInt bits = isa<FloatAttr>(element) ? cast<FloatAttr>(element).getValue().bitcastToAPInt()
                                         : cast<IntegerAttr>(element).getValue();
    if (type.isInteger(1)) bits = bits.zext(8);
    elements.push_back(llvm::ConstantInt::get(context, bits));
  }
  return llvm::ConstantArray::get(llvm::ArrayType::get(elements.front()->getType(), elements.size()), elements);
}
