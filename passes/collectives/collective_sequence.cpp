// Records are read off the ops; the hash is taken over a text of one line per collective.
#include "passes/collectives/collective_sequence.h"

#include "llvm/Support/SHA256.h"
#include "passes/partition/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isCollective(Operation *op) {
  return isa<spmd::AllReduceOp, spmd::AllGatherOp, spmd::ReduceScatterOp, spmd::AllToAllOp, spmd::CollectivePermuteOp, spmd::BroadcastOp>(op);
}

AxisListAttr mlir::sgd::getGroup(Operation *collective) {
  StringRef name = isa<spmd::CollectivePermuteOp>(collective) ? "to" : "axes";
  return collective->getAttrOfType<AxisListAttr>(name);
}

static CollectiveKind getKind(Operation *op) {
  if (isa<spmd::AllReduceOp>(op)) return CollectiveKind::kAllReduce;
  if (isa<spmd::AllGatherOp>(op)) return CollectiveKind::kAllGather;
  if (isa<spmd::ReduceScatterOp>(op)) return CollectiveKind::kReduceScatter;
  if (isa<spmd::AllToAllOp>(op)) return CollectiveKind::kAllToAll;
  return isa<spmd::CollectivePermuteOp>(op) ? CollectiveKind::kPermute : CollectiveKind::kBroadcast;
}

static CollectiveRecord getRecord(Operation *op) {
  CollectiveRecord record;
  record.op = op;
  record.kind = getKind(op);
  if (auto reduce = dyn_cast<spmd::AllReduceOp>(op)) record.reduce = reduce.getKind();
  if (auto reduce = dyn_cast<spmd::ReduceScatterOp>(op)) record.reduce = reduce.getKind();
  AxisListAttr group = getGroup(op);
  MeshAttr mesh = lookupMesh(op, group.getMesh());
  record.axes = getParts(mesh, group.getAxes());
  if (auto permute = dyn_cast<spmd::CollectivePermuteOp>(op)) record.fromAxes = getParts(mesh, permute.getFrom().getAxes());
  for (Value operand : op->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    std::string element;
    llvm::raw_string_ostream(element) << type.getElementType();
    record.elements.push_back(std::move(element));
    record.counts.push_back(type.getNumElements());
  }
  bool countsResults = record.kind == CollectiveKind::kAllGather;
  for (Type type : countsResults ? TypeRange(op->getResultTypes()) : TypeRange(op->getOperandTypes())) record.bytes += getTensorBytes(cast<RankedTensorType>(type));
  return record;
}

std::vector<CollectiveRecord> mlir::sgd::computeCollectiveSequence(func::FuncOp function) {
  std::vector<CollectiveRecord> sequence;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isCollective(op)) sequence.push_back(getRecord(op));
  });
  return sequence;
}

std::array<uint8_t, 32> mlir::sgd::hashCollectiveSequence(ArrayRef<CollectiveRecord> sequence) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto printAxes = [&](ArrayRef<AxisPart> parts) {
    stream << " [";
    for (const AxisPart &part : parts) stream << part.axis << ":" << part.begin << ":" << part.size << ",";
    stream << "]";
  };
  for (const CollectiveRecord &record : sequence) {
    stream << static_cast<int>(record.kind) << " " << (record.reduce ? stringifyReduceKind(*record.reduce) : "-");
    printAxes(record.axes);
    printAxes(record.fromAxes);
    for (auto [element, count] : llvm::zip(record.elements, record.counts)) stream << " " << element << "x" << count;
    stream << "\n";
  }
  return llvm::SHA256::hash(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
}

uint64_t mlir::sgd::getSentBytes(ArrayRef<CollectiveRecord> sequence) {
  uint64_t bytes = 0;
  for (const CollectiveRecord &record : sequence) bytes += record.getSentBytes();
  return bytes;
}
