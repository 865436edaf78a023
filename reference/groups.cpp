// A rank's coordinate on an axis is one number; a sub-axis is a mixed-radix digit of it.
#include "reference/groups.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// A sub-axis as a mixed-radix digit of rank numbers: rank / stride % size.
struct Digit {
  int64_t stride, size;
  int64_t of(int64_t rank) const { return rank / stride % size; }
};

Digit getDigit(MeshAttr mesh, AxisRefAttr axis) {
  unsigned position = *mesh.getAxisIndex(axis.getName());
  int64_t stride = 1;
  for (MeshAxisAttr later : mesh.getAxes().drop_front(position + 1)) stride *= later.getSize();
  int64_t whole = mesh.getAxes()[position].getSize();
  if (axis.isWholeAxis()) return {stride, whole};
  return {stride * (whole / (axis.getPreSize() * axis.getSize())), axis.getSize()};
}

}  // namespace

int64_t reference::getLinearIndex(MeshAttr mesh, ArrayRef<AxisRefAttr> axes, int64_t rank) {
  int64_t index = 0;
  for (AxisRefAttr axis : axes) {
    Digit digit = getDigit(mesh, axis);
    index = index * digit.size + digit.of(rank);
  }
  return index;
}

SmallVector<int64_t> reference::getGroup(MeshAttr mesh, ArrayRef<AxisRefAttr> axes, int64_t rank) {
  SmallVector<int64_t> group = {rank};
  for (AxisRefAttr axis : axes) group.front() -= getDigit(mesh, axis).of(rank) * getDigit(mesh, axis).stride;
  for (AxisRefAttr axis : axes) {
    Digit digit = getDigit(mesh, axis);
    SmallVector<int64_t> longer;
    for (int64_t member : group)
      for (int64_t i = 0; i < digit.size; ++i) longer.push_back(member + i * digit.stride);
    group = std::move(longer);
  }
  return group;
}
