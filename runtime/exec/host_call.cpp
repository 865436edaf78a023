// Addresses and sizes are found once: an execution passes them on.
#include "runtime/exec/host_call.h"

#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/reader.h"

namespace sgd::exec {
namespace {

using Tensors = flatbuffers::Vector<flatbuffers::Offset<artifact::HostTensor>>;

std::vector<HostTensor> TensorsOf(const Tensors* tensors, const device::MemoryMap& memory) {
  std::vector<HostTensor> found;
  for (uint32_t i = 0; i < artifact::Size(tensors); ++i) {
    const artifact::HostTensor& tensor = *tensors->Get(i);
    HostTensor& added = found.emplace_back();
    added.element = tensor.element();
    uint64_t bytes = artifact::ElementSize(tensor.element());
    for (uint32_t dim = 0; dim < artifact::Size(tensor.dims()); ++dim) {
      added.dims.push_back(tensor.dims()->Get(dim));
      bytes *= added.dims.back();
    }
    added.bytes = {memory.Address(*tensor.slice()), bytes};
  }
  return found;
}

class HostCallThunk final : public device::Thunk {
 public:
  // A null `handler`: this rank never calls.
  HostCallThunk(HostCall call, const std::byte* when, const HostCallHandler* handler)
      : call_(std::move(call)), when_(when), handler_(handler) {}

  absl::Status Execute() override {
    const bool calls = handler_ != nullptr && (when_ == nullptr || *when_ != std::byte{0});
    if (calls) return (*handler_)(call_);
    for (const HostTensor& output : call_.outputs) {
      if (!output.bytes.empty()) std::memset(output.bytes.data(), 0, output.bytes.size());
    }
    return absl::OkStatus();
  }

 private:
  const HostCall call_;
  const std::byte* const when_;
  const HostCallHandler* const handler_;
};

}  // namespace

device::PreparedThunk PrepareHostCall(const artifact::HostCall& call, const device::MemoryMap& memory, uint32_t rank,
                                      const HostCallHandler* handler) {
  std::string name = call.name()->str();
  if (handler == nullptr || *handler == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the program calls '", absl::CEscape(name),
                     "', a function of the process that compiled it, and this process has no handler for such calls; "
                     "remove the call from the program, or run the program where it was compiled"));
  }
  HostCall prepared{call.id(), std::move(name), rank, TensorsOf(call.inputs(), memory),
                    TensorsOf(call.outputs(), memory)};
  const std::byte* when = call.when() == nullptr ? nullptr : memory.Address(*call.when());
  return std::make_unique<HostCallThunk>(std::move(prepared), when, call.each_rank() || rank == 0 ? handler : nullptr);
}

std::set<uint64_t> HostFunctionsOf(const artifact::Artifact& root) {
  std::set<uint64_t> functions;
  for (uint32_t i = 0; i < artifact::Size(root.programs()); ++i) {
    const auto* instructions = root.programs()->Get(i)->instructions();
    for (uint32_t j = 0; j < artifact::Size(instructions); ++j) {
      if (const artifact::HostCall* call = instructions->Get(j)->op_as_HostCall()) functions.insert(call->id());
    }
  }
  return functions;
}

}  // namespace sgd::exec
