// One case per type.
#include "targets/gpu/device/nccl/nccl_types.h"

namespace sgd::cuda {

std::optional<ncclDataType_t> NcclTypeOf(comm::ElementType element) {
  switch (element) {
    case comm::ElementType::kBool:
    case comm::ElementType::kU8:
    case comm::ElementType::kF8E4M3FN:  // moved as bytes, never combined
    case comm::ElementType::kF8E5M2:
      return ncclUint8;
    case comm::ElementType::kI8:
      return ncclInt8;
    case comm::ElementType::kI32:
      return ncclInt32;
    case comm::ElementType::kU32:
      return ncclUint32;
    case comm::ElementType::kI64:
      return ncclInt64;
    case comm::ElementType::kU64:
      return ncclUint64;
    case comm::ElementType::kF16:
      return ncclFloat16;
    case comm::ElementType::kBF16:
      return ncclBfloat16;
    case comm::ElementType::kF32:
      return ncclFloat32;
    case comm::ElementType::kF64:
      return ncclFloat64;
    default:
      return std::nullopt;
  }
}

std::optional<ncclRedOp_t> NcclReductionOf(comm::ReduceKind reduce, comm::ElementType element) {
  if (element == comm::ElementType::kF8E4M3FN || element == comm::ElementType::kF8E5M2) return std::nullopt;
  const bool is_bool = element == comm::ElementType::kBool;
  switch (reduce) {
    case comm::ReduceKind::kAdd:
      return ncclSum;
    case comm::ReduceKind::kMul:
      return ncclProd;
    case comm::ReduceKind::kMax:
      return ncclMax;
    case comm::ReduceKind::kMin:
      return ncclMin;
    case comm::ReduceKind::kAnd:
      return is_bool ? std::optional(ncclMin) : std::nullopt;
    case comm::ReduceKind::kOr:
      return is_bool ? std::optional(ncclMax) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace sgd::cuda
