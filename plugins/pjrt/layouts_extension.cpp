// Row-major layouts as text.
#include "plugins/pjrt/layouts_extension.h"

#include "plugins/pjrt/buffer.h"
#include "plugins/pjrt/executable.h"

namespace sgd::pjrt {
namespace {

absl::Status DestroyLayout(LayoutDestroyArgs& args) {
  delete args.layout;
  return absl::OkStatus();
}

absl::Status SerializeLayout(LayoutSerializeArgs& args) {
  auto* text = new std::string(args.layout->text);
  args.bytes = text->data();
  args.size = text->size();
  args.serialized = text;
  args.deleter = [](void* serialized) { delete static_cast<std::string*>(serialized); };
  return absl::OkStatus();
}

absl::Status GetDefaultLayout(DefaultLayoutArgs& args) {
  args.layout = new PJRT_Layouts_MemoryLayout{RowMajorText(args.num_dims)};
  return absl::OkStatus();
}

absl::Status GetBufferLayout(BufferLayoutArgs& args) {
  args.layout = new PJRT_Layouts_MemoryLayout{RowMajorText(args.buffer->dims.size())};
  return absl::OkStatus();
}

absl::Status GetOutputLayouts(ExecutableLayoutsArgs& args) {
  const Layouts& layouts = args.executable->executable->output_layouts;
  args.count = layouts.pointers.size();
  args.layouts = layouts.pointers.data();
  return absl::OkStatus();
}

absl::Status GetParameterLayouts(ExecutableLayoutsArgs& args) {
  const Layouts& layouts = args.executable->executable->parameter_layouts;
  args.count = layouts.pointers.size();
  args.layouts = layouts.pointers.data();
  return absl::OkStatus();
}

}  // namespace

std::string RowMajorText(size_t dims) {
  std::string text = "{";
  for (size_t dim = dims; dim-- > 0;) text += std::to_string(dim) + (dim > 0 ? "," : "");
  return text + "}";
}

PJRT_Extension_Base* GetLayoutsExtension(PJRT_Extension_Base* next) {
  static LayoutsExtension extension = {
      {.struct_size = sizeof(LayoutsExtension), .type = PJRT_Extension_Type_Layouts, .next = next},
      Entry<DestroyLayout>::Call,
      Entry<SerializeLayout>::Call,
      Entry<GetDefaultLayout>::Call,
      Entry<GetBufferLayout>::Call,
      Entry<GetDefaultLayout>::Call,
      Entry<GetOutputLayouts>::Call,
      Entry<GetParameterLayouts>::Call};
  return &extension.base;
}

}  // namespace sgd::pjrt
