// Returns what Describe has found.
#include "plugins/pjrt/shardings_extension.h"

#include "plugins/pjrt/executable.h"

namespace sgd::pjrt {
namespace {

void ReturnShardings(const Shardings& shardings, ShardingsArgs& args) {
  args.count = shardings.protos.size();
  args.shardings = shardings.pointers.data();
  args.sizes = shardings.sizes.data();
}

absl::Status GetParameterShardings(ShardingsArgs& args) {
  ReturnShardings(args.executable->executable->parameter_shardings, args);
  return absl::OkStatus();
}

absl::Status GetOutputShardings(ShardingsArgs& args) {
  ReturnShardings(args.executable->executable->output_shardings, args);
  return absl::OkStatus();
}

}  // namespace

PJRT_Extension_Base* GetShardingsExtension() {
  static ShardingsExtension extension = {
      {.struct_size = sizeof(ShardingsExtension), .type = PJRT_Extension_Type_Shardings, .next = nullptr},
      Entry<GetParameterShardings>::Call,
      Entry<GetOutputShardings>::Call};
  return &extension.base;
}

}  // namespace sgd::pjrt
