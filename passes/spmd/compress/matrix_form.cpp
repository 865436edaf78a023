// All cuts are tried.
#include "passes/spmd/compress/matrix_form.h"

using namespace mlir::sgd;

MatrixForm MatrixForm::get(llvm::ArrayRef<int64_t> shape) {
  MatrixForm best;
  for (int64_t size : shape) best.columns *= size;
  MatrixForm form = best;
  for (int64_t size : shape) {
    if (size == 0) break;
    form = {form.rows * size, form.columns / size};
    if (form.rows + form.columns < best.rows + best.columns) best = form;
  }
  return best;
}
