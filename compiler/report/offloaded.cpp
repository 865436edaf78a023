// Every buffer on the host is copied to or from: the copies tell which there are.
#include "compiler/report/offloaded.h"

#include "compiler/export/export_program.h"
#include "dialects/sgd/source_line.h"
#include "dialects/plan/host_copy.h"
#include "dialects/sgd/tensor_names.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

OffloadedReport describe(Value host) {
  OffloadedReport one;
  auto argument = dyn_cast<BlockArgument>(host);
  if (argument) {
    one.what = "state";
    one.name = getInputName(cast<func::FuncOp>(argument.getOwner()->getParentOp()), argument.getArgNumber());
    return one;
  }
  bool isReturned = llvm::any_of(host.getParentBlock()->getTerminator()->getOperands(),
                                 [&](Value output) { return plan::getRoot(output).root == host; });
  one.what = isReturned ? "result" : "activation";
  one.location = getSourceLine(host.getLoc());
  return one;
}

}  // namespace

std::vector<OffloadedReport> mlir::sgd::findOffloaded(func::FuncOp function, const CostModel& cost) {
  std::vector<OffloadedReport> list;
  llvm::DenseSet<Value> known;
  for (auto copy : function.front().getOps<plan::HostCopyOp>()) {
    Value host = plan::getRoot(copy.isToHost() ? copy.getTarget() : copy.getSource()).root;
    OffloadedReport one = describe(host);
    auto record = llvm::find_if(list, [&](const OffloadedReport& other) {
      return other.what == one.what && other.name == one.name && other.location == one.location;
    });
    if (record == list.end()) record = list.insert(record, std::move(one));
    ++record->count;
    record->seconds += cost.getHostCopySeconds(static_cast<double>(copy.getCopiedBytes()));
    if (known.insert(host).second) record->bytes += getByteSize(host.getType());
  }
  return list;
}
