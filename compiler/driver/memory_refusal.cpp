// Arguments and values by size.
#include "compiler/driver/memory_refusal.h"

#include "compiler/locations.h"
#include "dialects/plan/plan_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult mlir::sgd::emitMemoryRefusal(func::FuncOp program, uint64_t peak, uint64_t allowed, StringRef limit) {
  std::vector<std::pair<uint64_t, std::string>> buffers;
  auto add = [&](Value buffer, std::string name) {
    std::string place = getUserLocation(buffer.getLoc());
    buffers.emplace_back(getByteSize(cast<MemRefType>(buffer.getType())), name + (place.empty() ? "" : " at " + place));
  };
  for (BlockArgument argument : program.getArguments()) {
    auto name = program.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
    add(argument, "argument " + (name ? name.str() : std::to_string(argument.getArgNumber())));
  }
  program.walk([&](plan::AllocOp alloc) { add(alloc, "value"); });
  llvm::sort(buffers, std::greater<>());
  InFlightDiagnostic error = emitError(UnknownLoc::get(program.getContext()))
                             << "needs " << peak << " bytes in each rank, whatever is recomputed, where " << limit
                             << " allows " << allowed << "; the smallest limit that can be met is " << peak
                             << "; the largest buffers: ";
  llvm::interleaveComma(ArrayRef(buffers).take_front(5), error,
                        [&](const auto& buffer) { error << buffer.second << " (" << buffer.first << " bytes)"; });
  return error;
}
