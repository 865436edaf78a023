// Field by field; the enums of both sides have the same values (runtime/comm says so,
// static_asserts here hold it).
#include "runtime/artifact/collective.h"

#include <iterator>
#include <string_view>
#include <utility>

namespace sgd::artifact {
namespace {

// Ranks do not know the one behind it.
static_assert(static_cast<int>(ElementType::F8E5M2) == static_cast<int>(comm::ElementType::kF8E5M2));
static_assert(static_cast<int>(ElementType::MAX) == static_cast<int>(ElementType::F8E5M2) + 1);
static_assert(static_cast<int>(ElementType::BF16) == static_cast<int>(comm::ElementType::kBF16));
// Tests compare the names.
static_assert(static_cast<size_t>(CollectiveKind::MAX) + 1 == std::size(comm::kCollectives));
static_assert(static_cast<int>(ReduceKind::MAX) == static_cast<int>(comm::ReduceKind::kOr));

// No kind of collective.
constexpr uint64_t kLoopMark = 1u << 16, kCaseMark = 1u << 17;

// Appends numbers as eight little-endian bytes each, so that no two sequences of fields have the
// same text.
class FieldText {
 public:
  void Add(uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) text_.push_back(static_cast<char>(value >> shift));
  }
  void Add(const std::vector<comm::AxisRef>& axes) {
    Add(axes.size());
    for (const comm::AxisRef& axis : axes) {
      Add(axis.axis);
      Add(axis.pre_size);
      Add(axis.size);
    }
  }
  Bytes bytes() const { return {reinterpret_cast<const uint8_t*>(text_.data()), text_.size()}; }

 private:
  std::string text_;
};

comm::CollectiveOperand OperandOf(const CollectiveOperand& operand) {
  comm::CollectiveOperand result;
  result.element = static_cast<comm::ElementType>(operand.element());
  result.source_offset = operand.source()->offset();
  result.target_offset = operand.target()->offset();
  result.count = operand.count();
  result.outer = operand.outer();
  result.inner = operand.inner();
  if (operand.dims() != nullptr) result.dims.assign(operand.dims()->begin(), operand.dims()->end());
  result.split = operand.split();
  result.concat = operand.concat();
  if (const TileRange* range = operand.range(); range != nullptr) {
    result.range = {range->size(),   range->tile(),    range->length(), range->scale(),
                    range->offset(), range->divisor(), range->step()};
  }
  return result;
}

void AddCollective(const comm::CollectiveSpec& spec, FieldText& text) {
  text.Add(static_cast<uint64_t>(spec.kind));
  text.Add(static_cast<uint64_t>(spec.reduce));
  text.Add(spec.axes);
  text.Add(spec.from_axes);
  text.Add(spec.to_axes);
  text.Add(spec.operands.size());
  for (const comm::CollectiveOperand& operand : spec.operands) {
    text.Add(static_cast<uint64_t>(operand.element));
    text.Add(operand.count);
    text.Add(operand.outer);
    text.Add(operand.inner);
    text.Add(operand.dims.size());
    for (uint64_t dim : operand.dims) text.Add(dim);
    text.Add(operand.split);
    text.Add(operand.concat);
    const comm::TileRange& range = operand.range;
    for (uint64_t value : {range.size, range.tile, range.length, static_cast<uint64_t>(range.scale),
                           static_cast<uint64_t>(range.offset), range.divisor, range.step}) {
      text.Add(value);
    }
  }
}

}  // namespace

comm::Mesh MeshOf(const Artifact& root) {
  comm::Mesh mesh;
  if (root.mesh() == nullptr) return mesh;
  for (const MeshAxis* axis : *root.mesh()) mesh.axis_sizes.push_back(axis->size());
  return mesh;
}

std::vector<comm::AxisRef> AxesOf(const AxisRefs* axes) {
  std::vector<comm::AxisRef> result;
  if (axes == nullptr) return result;
  for (const AxisRef* axis : *axes) result.push_back({axis->axis(), axis->pre_size(), axis->size()});
  return result;
}

comm::CollectiveSpec SpecOf(const Collective& collective, std::string location) {
  comm::CollectiveSpec spec;
  spec.kind = static_cast<comm::CollectiveKind>(collective.kind());
  spec.reduce = static_cast<comm::ReduceKind>(collective.reduce());
  spec.axes = AxesOf(collective.axes());
  spec.from_axes = AxesOf(collective.from_axes());
  spec.to_axes = AxesOf(collective.to_axes());
  if (collective.operands() != nullptr) {
    for (const CollectiveOperand* operand : *collective.operands()) spec.operands.push_back(OperandOf(*operand));
  }
  if (const Slice* staging = collective.staging(); staging != nullptr) {
    spec.staging_offset = staging->offset();
    spec.staging_bytes = staging->size();
  }
  spec.location = std::move(location);
  return spec;
}

absl::StatusOr<Hash> HashCollectives(const Program& program) {
  FieldText text;
  if (program.instructions() != nullptr) {
    for (const Instruction* instruction : *program.instructions()) {
      const Collective* collective = instruction->op_as_Collective();
      if (collective != nullptr) AddCollective(SpecOf(*collective, ""), text);
      if (const Loop* loop = instruction->op_as_Loop()) {
        for (uint64_t field : {kLoopMark, uint64_t{loop->condition()}, uint64_t{loop->body()}, loop->trips()})
          text.Add(field);
      }
      if (const Case* branches = instruction->op_as_Case()) {
        text.Add(kCaseMark);
        if (branches->branches() != nullptr) {
          for (uint32_t size : *branches->branches()) text.Add(size);
        }
      }
    }
  }
  return Sha256(text.bytes());
}

}  // namespace sgd::artifact
