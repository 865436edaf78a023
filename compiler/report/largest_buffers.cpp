// Arguments and values by size.
#include "compiler/report/largest_buffers.h"

#include "dialects/sgd/source_line.h"
#include "dialects/plan/plan_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

std::string mlir::sgd::describeLargestBuffers(func::FuncOp program) {
  std::vector<std::pair<uint64_t, std::string>> buffers;
  auto add = [&](Value buffer, std::string name) {
    std::string place = getSourceLine(buffer.getLoc());
    buffers.emplace_back(getByteSize(cast<MemRefType>(buffer.getType())), name + (place.empty() ? "" : " at " + place));
  };
  for (BlockArgument argument : program.getArguments()) {
    auto name = program.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
    add(argument, "argument " + (name ? name.str() : std::to_string(argument.getArgNumber())));
  }
  program.walk([&](plan::AllocOp alloc) { add(alloc, "value"); });
  llvm::sort(buffers, std::greater<>());
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(ArrayRef(buffers).take_front(5), os,
                        [&](const auto& buffer) { os << buffer.second << " (" << buffer.first << " bytes)"; });
  return text;
}
