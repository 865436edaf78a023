// The axes that a mesh names beside its own: of iterations, and of stages.
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/stages.h"

using namespace mlir;
using namespace mlir::sgd;

/// An axis that is none of the mesh's, or its first one.
static LogicalResult verifyAxis(MeshOp mesh, StringRef name, int64_t most) {
  Attribute attribute = mesh->getAttr(name);
  if (!attribute) return success();
  auto axis = dyn_cast<MeshAxisAttr>(attribute);
  if (!axis) return mesh.emitOpError() << "'" << name << "' is " << attribute << "; expected #sgd<axis\"name\"=2>";
  if (axis.getSize() < 1 || axis.getSize() > most)
    return mesh.emitOpError() << "'" << name << "' is an axis of " << axis.getSize() << "; expected 1 to " << most;
  std::optional<unsigned> index = mesh.getMesh().getAxisIndex(axis.getName());
  if (index && mesh.getMesh().getAxes()[*index] != axis)
    return mesh.emitOpError() << "'" << name << "' is the axis \"" << axis.getName()
                              << "\", of which the mesh has one of another size; give one of them another name";
  return success();
}

LogicalResult MeshOp::verify() {
  if (failed(verifyAxis(*this, kSequentialAttr, INT32_MAX)) || failed(verifyAxis(*this, kStagesAttr, kMaxStages)))
    return failure();
  Attribute schedule = (*this)->getAttr(kScheduleAttr);
  if (schedule && !isa<StringAttr>(schedule))
    return emitOpError() << "'" << kScheduleAttr << "' is " << schedule << "; expected the name of a schedule";
  return success();
}
