// Written from the text of program.fbs, element by element, sharing nothing with the implementation
// but mesh groups.
#include "reference_collective.h"

#include <cmath>
#include <cstring>

namespace sgd::comm {
namespace {

template <class T>
T Get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

template <class T>
void Put(T value, std::byte* at) {
  std::memcpy(at, &value, sizeof(value));
}

float FromBfloat16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

// The nearer of the two neighbours; the even one of equally near ones.
uint16_t ToBfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint16_t below = static_cast<uint16_t>(bits >> 16);
  if (std::isnan(value) || (bits & 0xffff) == 0) return below | (std::isnan(value) ? 0x40 : 0);
  const uint32_t rest = bits & 0xffff;
  const bool up = rest > 0x8000 || (rest == 0x8000 && below % 2 == 1);
  return static_cast<uint16_t>(below + up);
}

double Apply(ReduceKind reduce, double a, double b) {
  switch (reduce) {
    case ReduceKind::kAdd:
      return a + b;
    case ReduceKind::kMul:
      return a * b;
    case ReduceKind::kMax:
      return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
    case ReduceKind::kMin:
      return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b);
    case ReduceKind::kAnd:
      return static_cast<double>(static_cast<int64_t>(a) & static_cast<int64_t>(b));
    case ReduceKind::kOr:
      return static_cast<double>(static_cast<int64_t>(a) | static_cast<int64_t>(b));
  }
  return 0;
}

using Windows = std::vector<std::vector<std::byte>>;

struct Context {
  const CollectiveSpec& spec;
  const CollectiveOperand& operand;
  const Windows& before;
  const Group& group;
  std::byte* target;

  uint64_t size() const { return ElementSize(operand.element); }
  const std::byte* Source(uint32_t position, uint64_t index) const {
    return before[group.members[position]].data() + operand.source_offset + index * size();
  }
  void Copy(uint32_t position, uint64_t from, uint64_t to) const {
    std::memcpy(target + to * size(), Source(position, from), size());
  }
  // Positions [begin, end): the largest power of two below their number, and the rest. f32 arithmetic for the types
  // that are accumulated in f32.
  double Tree(uint32_t begin, uint32_t end, uint64_t from) const {
    if (end - begin == 1) return LoadElement(operand.element, Source(begin, from));
    uint32_t left = 1;
    while (2 * left < end - begin) left *= 2;
    const double value = Apply(spec.reduce, Tree(begin, begin + left, from), Tree(begin + left, end, from));
    const bool single = operand.element >= ElementType::kF16 && operand.element != ElementType::kF64;
    return single ? static_cast<float>(value) : value;
  }
  void Reduce(uint64_t from, uint64_t to) const {
    StoreElement(operand.element, Tree(0, static_cast<uint32_t>(group.members.size()), from), target + to * size());
  }
};

void AllToAll(const Context& context) {
  const CollectiveOperand& operand = context.operand;
  const uint64_t n = context.group.members.size();
  const size_t rank = operand.dims.size();
  std::vector<uint64_t> target_dims = operand.dims;
  target_dims[operand.split] /= n;
  const std::vector<uint64_t> block_dims = target_dims;
  target_dims[operand.concat] *= n;
  for (uint64_t to = 0; to < operand.count; ++to) {
    std::vector<uint64_t> index(rank);
    uint64_t rest = to;
    for (size_t d = rank; d-- > 0;) {
      index[d] = rest % target_dims[d];
      rest /= target_dims[d];
    }
    const uint64_t sender = index[operand.concat] / block_dims[operand.concat];
    index[operand.concat] %= block_dims[operand.concat];
    index[operand.split] += context.group.index * block_dims[operand.split];
    uint64_t from = 0;
    for (size_t d = 0; d < rank; ++d) from = from * operand.dims[d] + index[d];
    context.Copy(static_cast<uint32_t>(sender), from, to);
  }
}

void GatherRange(const Context& context, uint64_t result) {
  const TileRange& range = context.operand.range;
  const double begin = static_cast<double>(range.scale) * static_cast<double>(result) + range.offset;
  const int64_t start = static_cast<int64_t>(std::floor(begin / static_cast<double>(range.divisor)));
  for (uint64_t o = 0; o < context.operand.outer; ++o) {
    for (uint64_t e = 0; e < range.length; ++e) {
      const int64_t at = start + static_cast<int64_t>(e * range.step);
      for (uint64_t i = 0; i < context.operand.inner; ++i) {
        const uint64_t to = (o * range.length + e) * context.operand.inner + i;
        if (at < 0 || at >= static_cast<int64_t>(range.size)) {
          std::memset(context.target + to * context.size(), 0, context.size());
          continue;
        }
        const uint64_t tile = static_cast<uint64_t>(at) / range.tile, row = static_cast<uint64_t>(at) % range.tile;
        context.Copy(static_cast<uint32_t>(tile), (o * range.tile + row) * context.operand.inner + i, to);
      }
    }
  }
}

void RunOperand(const Mesh& mesh, const Context& context, uint32_t rank) {
  const CollectiveOperand& operand = context.operand;
  const uint64_t n = context.group.members.size();
  switch (context.spec.kind) {
    case CollectiveKind::kAllReduce:
      for (uint64_t i = 0; i < operand.count; ++i) context.Reduce(i, i);
      break;
    case CollectiveKind::kReduceScatter:
      for (uint64_t o = 0; o < operand.outer; ++o) {
        for (uint64_t i = 0; i < operand.inner; ++i) {
          context.Reduce((o * n + context.group.index) * operand.inner + i, o * operand.inner + i);
        }
      }
      break;
    case CollectiveKind::kAllGather:
      for (uint64_t o = 0; o < operand.outer; ++o) {
        for (uint32_t r = 0; r < n; ++r) {
          for (uint64_t i = 0; i < operand.inner; ++i) {
            context.Copy(r, o * operand.inner + i, (o * n + r) * operand.inner + i);
          }
        }
      }
      break;
    case CollectiveKind::kAllToAll:
      AllToAll(context);
      break;
    case CollectiveKind::kPermute:
      for (uint32_t from = 0; from < n; ++from) {
        const uint64_t index = LinearIndex(mesh, context.spec.from_axes, context.group.members[from]);
        if (index != LinearIndex(mesh, context.spec.axes, rank)) continue;
        for (uint64_t i = 0; i < operand.count; ++i) context.Copy(from, i, i);
      }
      break;
    case CollectiveKind::kBroadcast:
      for (uint64_t i = 0; i < operand.count; ++i) context.Copy(0, i, i);
      break;
    case CollectiveKind::kGatherRange:
      GatherRange(context, LinearIndex(mesh, context.spec.to_axes, rank));
      break;
  }
}

}  // namespace

double LoadElement(ElementType element, const std::byte* at) {
  switch (element) {
    case ElementType::kBool:
    case ElementType::kU8:
    case ElementType::kF8E4M3FN:  // moved as codes
    case ElementType::kF8E5M2:
      return Get<uint8_t>(at);
    case ElementType::kI8:
      return Get<int8_t>(at);
    case ElementType::kI16:
      return Get<int16_t>(at);
    case ElementType::kI32:
      return Get<int32_t>(at);
    case ElementType::kI64:
      return static_cast<double>(Get<int64_t>(at));
    case ElementType::kU16:
      return Get<uint16_t>(at);
    case ElementType::kU32:
      return Get<uint32_t>(at);
    case ElementType::kU64:
      return static_cast<double>(Get<uint64_t>(at));
    case ElementType::kF16:
      return static_cast<double>(Get<_Float16>(at));
    case ElementType::kBF16:
      return FromBfloat16(Get<uint16_t>(at));
    case ElementType::kF32:
      return Get<float>(at);
    case ElementType::kF64:
      return Get<double>(at);
  }
  return 0;
}

void StoreElement(ElementType element, double value, std::byte* at) {
  switch (element) {
    case ElementType::kF16:
      return Put(static_cast<_Float16>(static_cast<float>(value)), at);
    case ElementType::kBF16:
      return Put(ToBfloat16(static_cast<float>(value)), at);
    case ElementType::kF32:
      return Put(static_cast<float>(value), at);
    case ElementType::kF64:
      return Put(value, at);
    default:
      break;
  }
  const uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  std::memcpy(at, &bits, ElementSize(element));
}

void RunReference(const Mesh& mesh, const CollectiveSpec& spec, Windows& windows) {
  const Windows before = windows;
  for (uint32_t rank = 0; rank < windows.size(); ++rank) {
    const Group group = *GroupOf(mesh, spec.axes, rank);
    for (const CollectiveOperand& operand : spec.operands) {
      RunOperand(mesh, {spec, operand, before, group, windows[rank].data() + operand.target_offset}, rank);
    }
  }
}

}  // namespace sgd::comm
