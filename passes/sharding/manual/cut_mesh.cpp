#include "passes/sharding/manual/cut_mesh.h"

#include <set>

using namespace mlir;
using namespace mlir::sgd;

std::optional<CutMesh> CutMesh::create(MeshAttr mesh, ArrayRef<AxisRefAttr> refs) {
  CutMesh cut;
  MLIRContext* context = mesh.getContext();
  SmallVector<MeshAxisAttr> axes;
  for (MeshAxisAttr axis : mesh.getAxes()) {
    // Products of the sizes before each cut.
    std::set<int64_t> cuts = {1, axis.getSize()};
    for (AxisRefAttr ref : refs)
      if (!ref.isWholeAxis() && ref.getName() == axis.getName())
        cuts.insert({ref.getPreSize(), ref.getPreSize() * ref.getSize()});
    int64_t before = 1;
    for (int64_t next : cuts) {
      if (next % before != 0) return std::nullopt;
      bool isWhole = before == 1 && next == axis.getSize();
      if (next > before || (isWhole && cuts.size() == 1)) {
        AxisRefAttr ref = isWhole ? AxisRefAttr::get(context, axis.getName())
                                  : AxisRefAttr::get(context, axis.getName(), before, next / before);
        std::string name = axis.getName().str() + (isWhole ? "" : ":" + std::to_string(before));
        axes.push_back(MeshAxisAttr::get(context, name, next / before));
        cut.refs.push_back(ref);
      }
      before = next;
    }
  }
  cut.parts = MeshAttr::get(context, axes);
  return cut;
}

SmallVector<unsigned> CutMesh::find(ArrayRef<AxisRefAttr> axes) const {
  SmallVector<unsigned> found;
  for (AxisRefAttr axis : axes) {
    for (auto [index, ref] : llvm::enumerate(refs)) {
      if (ref.getName() != axis.getName()) continue;
      int64_t begin = ref.isWholeAxis() ? 1 : ref.getPreSize();
      if (axis.isWholeAxis() || (begin >= axis.getPreSize() && begin < axis.getPreSize() * axis.getSize()))
        found.push_back(index);
    }
  }
  return found;
}
