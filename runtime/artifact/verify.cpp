// Checks of the mesh, the tensors and the programs; single instructions are checked by
// verify_operation.cpp, collectives in flight by verify_overlap.cpp.
#include "runtime/artifact/verify.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/artifact/verify_channels.h"
#include "runtime/artifact/verify_launch.h"
#include "runtime/artifact/verify_operation.h"
#include "runtime/artifact/verify_overlap.h"
#include "runtime/artifact/verify_work.h"
#include "runtime/artifact/whole_program.h"

namespace sgd::artifact {
namespace {

constexpr uint64_t kMaxSpaceBytes = uint64_t{1} << 46;
constexpr uint64_t kMaxTensorBytes = uint64_t{1} << 62;
constexpr uint64_t kMaxDims = 64;

// Prefixes a message; an OK status stays as it is.
absl::Status In(const std::string& where, const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(where, ": ", status.message()));
}

// A name from the file, fit for a message of one line.
std::string Quoted(const flatbuffers::String* name) { return absl::StrCat("'", absl::CEscape(name->str()), "'"); }

absl::Status VerifyMesh(const Artifact& root) {
  absl::flat_hash_set<std::string> names;
  for (uint64_t i = 0; i < Size(root.mesh()); ++i) {
    const flatbuffers::String* name = root.mesh()->Get(static_cast<uint32_t>(i))->name();
    if (name->size() == 0 || !names.insert(name->str()).second) {
      return Invalid(absl::StrCat("mesh axis name ", Quoted(name), " is empty or repeated"));
    }
  }
  return comm::CheckMesh(MeshOf(root));
}

// Bytes of a tensor of these dimensions.
std::optional<uint64_t> TensorBytes(const flatbuffers::Vector<uint64_t>* dims, ElementType element) {
  uint64_t bytes = ElementSize(element);
  for (uint64_t i = 0; i < Size(dims); ++i) {
    const uint64_t dim = dims->Get(static_cast<uint32_t>(i));
    if (dim == 0) return 0;
    if (bytes > kMaxTensorBytes / dim) return std::nullopt;
    bytes *= dim;
  }
  return bytes;
}

// Rows of a stage: some, in ascending order, in the tensor. How many a rank holds of each over so many shards is added
// to `expected`.
absl::Status VerifyRows(const VerifyContext& context, const TensorInfo& type, uint64_t shards, uint64_t& expected) {
  const uint64_t size = type.global_dims()->Get(0);
  if (context.stage < 0) return Invalid("has some rows alone, and there are no stages");
  uint64_t next = 0;
  for (uint32_t i = 0; i < Size(type.rows()); ++i) {
    const RowRange* range = type.rows()->Get(i);
    if (range->first() < next || range->first() > size || range->count() == 0 ||
        range->count() > size - range->first()) {
      return Invalid(
          absl::StrCat("rows [", range->first(), ", + ", range->count(), ") of ", size, " are none, or before others"));
    }
    next = range->first() + range->count();
    expected += range->count() / shards + (range->count() % shards != 0);
  }
  return absl::OkStatus();
}

uint64_t CeilDiv(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

absl::Status VerifySharding(const VerifyContext& context, const TensorInfo& type) {
  const comm::Mesh& mesh = context.mesh;
  const uint64_t rank = Size(type.global_dims());
  if (Size(type.local_dims()) != rank) return Invalid("local and global shape differ in their number of dimensions");
  if (Size(type.sharding()) != 0 && Size(type.sharding()) != rank) {
    return Invalid("the sharding does not have one entry per dimension");
  }
  if (Size(type.rows()) != 0 && rank == 0) return Invalid("has rows, and no dimension");
  if (type.summands() && rank == 0) return Invalid("has summands, and no dimension");
  std::vector<comm::AxisRef> all_axes;
  for (uint32_t i = 0; i < rank; ++i) {
    std::vector<comm::AxisRef> axes;
    if (Size(type.sharding()) != 0) axes = AxesOf(type.sharding()->Get(i)->axes());
    all_axes.insert(all_axes.end(), axes.begin(), axes.end());
    if (absl::Status status = comm::CheckAxes(mesh, all_axes); !status.ok()) return status;
    if (absl::Status status = VerifyOwnStage(context, axes); !status.ok())
      return In(absl::StrCat("the sharding of dimension ", i), status);
    const uint64_t shards = comm::AxesSize(axes);
    const uint64_t global = type.global_dims()->Get(i);
    const uint64_t blocks = Size(type.sharding()) != 0 ? type.sharding()->Get(i)->blocks() : 1;
    const uint64_t local = type.local_dims()->Get(i);
    if (blocks == 0 || local % blocks != 0) {
      return Invalid(absl::StrCat("dimension ", i, " of local size ", local, " is not ", blocks, " equal blocks"));
    }
    uint64_t expected = CeilDiv(CeilDiv(global, blocks), shards) * blocks;
    // Tiles of several blocks may be larger: other tensors with these rows have them on more ranks.
    if (blocks != 1 && local <= kMaxTensorBytes / shards) expected = std::max(expected, local);
    if (i == 0 && Size(type.rows()) != 0) {
      if (blocks != 1) return Invalid("has rows of its own of a dimension in blocks");
      expected = 0;
      if (absl::Status status = VerifyRows(context, type, shards, expected); !status.ok()) return status;
    }
    if (local != expected) {
      return Invalid(absl::StrCat("dimension ", i, " of size ", global, " over ", shards, " shards has local size ",
                                  local, " where ", expected, " is expected"));
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyOwner(const VerifyContext& context, const TensorInfo& type) {
  const std::vector<comm::AxisRef> owner = AxesOf(type.owner());
  if (owner.empty()) return type.owner_index() == 0 ? absl::OkStatus() : Invalid("has an owner along no axes");
  std::vector<comm::AxisRef> axes = owner;
  for (uint32_t i = 0; i < Size(type.sharding()); ++i) {
    const std::vector<comm::AxisRef> of_dim = AxesOf(type.sharding()->Get(i)->axes());
    axes.insert(axes.end(), of_dim.begin(), of_dim.end());
  }
  if (absl::Status status = comm::CheckAxes(context.mesh, axes); !status.ok()) return In("its owner", status);
  if (absl::Status status = VerifyOwnStage(context, owner); !status.ok()) return In("its owner", status);
  if (type.owner_index() >= comm::AxesSize(owner))
    return Invalid(absl::StrCat("its owner is rank ", type.owner_index(), " of ", comm::AxesSize(owner)));
  return Size(type.rows()) == 0 ? absl::OkStatus() : Invalid("has an owner, and some rows alone");
}

absl::Status VerifyTensor(const VerifyContext& context, const TensorInfo& type, const Slice* slice) {
  if (type.element() > ElementType::MAX) return Invalid("unknown element type");
  if (Size(type.global_dims()) > kMaxDims) return Invalid(absl::StrCat("more than ", kMaxDims, " dimensions"));
  if (absl::Status status = VerifySharding(context, type); !status.ok()) return status;
  if (absl::Status status = VerifyOwner(context, type); !status.ok()) return status;
  const std::optional<uint64_t> bytes = TensorBytes(type.local_dims(), type.element());
  if (!bytes || !TensorBytes(type.global_dims(), type.element())) return Invalid("the tensor has more than 2^62 bytes");
  if (absl::Status status = VerifySlice(context, slice, "its slice"); !status.ok()) return status;
  if (slice->size() < *bytes) {
    return Invalid(absl::StrCat("a shard of ", *bytes, " bytes does not fit in a slice of ", slice->size()));
  }
  if (slice->offset() % ElementSize(type.element()) != 0) return Invalid("its slice is not aligned to its elements");
  return absl::OkStatus();
}

absl::Status VerifyInputs(const VerifyContext& context, const Program& program) {
  absl::flat_hash_set<std::string> names;
  for (uint32_t i = 0; i < Size(program.inputs()); ++i) {
    const Input& input = *program.inputs()->Get(i);
    const std::string where = absl::StrCat("input ", i, " ", Quoted(input.name()));
    if (!names.insert(input.name()->str()).second) return Invalid(absl::StrCat(where, ": the name is used twice"));
    for (uint32_t alias = 0; alias < Size(input.aliases()); ++alias) {
      if (!names.insert(input.aliases()->Get(alias)->str()).second)
        return Invalid(absl::StrCat(where, ": its other name ", Quoted(input.aliases()->Get(alias)), " is used twice"));
    }
    if (absl::Status status = VerifyTensor(context, *input.type(), input.slice()); !status.ok())
      return In(where, status);
    if (absl::Status status = VerifyWritable(context, input.slice(), "its slice"); !status.ok())
      return In(where, status);
    const int32_t candidate = input.carry_candidate();
    if (candidate < -1 || candidate >= static_cast<int64_t>(Size(program.outputs())))
      return Invalid(absl::StrCat(where, ": may be output ", candidate, " of ", Size(program.outputs())));
    const TensorInfo& type = *input.type();
    const bool is_byte = type.element() == ElementType::I8 || type.element() == ElementType::U8;
    if (const uint32_t bits = input.narrow_bits(); bits != 0 && !(is_byte && (bits == 2 || bits == 4)))
      return Invalid(absl::StrCat(where, ": has integers of ", bits, " bits in ", ElementName(type.element())));
    if (input.role() > InputRole::MAX)
      return Invalid(absl::StrCat(where, ": has the unknown role ", static_cast<int>(input.role())));
    const bool is_pair = type.element() == ElementType::U64 && Size(type.global_dims()) == 1 &&
                         type.global_dims()->Get(0) == 2 && type.local_dims()->Get(0) == 2;
    if (input.role() == InputRole::Generator && !is_pair)
      return Invalid(absl::StrCat(where, ": is no state of a generator"));
  }
  return absl::OkStatus();
}

template <typename T>
bool EqualVectors(const flatbuffers::Vector<T>* a, const flatbuffers::Vector<T>* b) {
  if (Size(a) != Size(b)) return false;
  for (uint32_t i = 0; i < Size(a); ++i) {
    if (a->Get(i) != b->Get(i)) return false;
  }
  return true;
}

// The axes that shard a dimension; axes of size 1 shard nothing.
uint64_t Blocks(const TensorInfo& type, uint32_t dim) {
  return Size(type.sharding()) == 0 ? 1 : type.sharding()->Get(dim)->blocks();
}

std::vector<comm::AxisRef> ShardingAxes(const TensorInfo& type, uint32_t dim) {
  if (Size(type.sharding()) == 0) return {};
  std::vector<comm::AxisRef> axes = AxesOf(type.sharding()->Get(dim)->axes());
  std::erase_if(axes, [](const comm::AxisRef& axis) { return axis.size == 1; });
  return axes;
}

bool SameAxis(const comm::AxisRef& a, const comm::AxisRef& b) {
  return a.axis == b.axis && a.pre_size == b.pre_size && a.size == b.size;
}

absl::Status VerifyCarry(const Program& program, const Output& output, absl::flat_hash_set<int32_t>& carried) {
  const int32_t index = output.carry_input();
  if (output.carry_basis() > CarryBasis::MAX)
    return Invalid(absl::StrCat("has the unknown carry basis ", static_cast<int>(output.carry_basis())));
  if (index == -1) return absl::OkStatus();
  if (index < -1 || static_cast<uint64_t>(index) >= Size(program.inputs())) {
    return Invalid(absl::StrCat("carries into input ", index, " of ", Size(program.inputs())));
  }
  if (!carried.insert(index).second) return Invalid(absl::StrCat("a second output carries into input ", index));
  const TensorInfo& from = *output.type();
  const TensorInfo& to = *program.inputs()->Get(static_cast<uint32_t>(index))->type();
  if (from.element() != to.element() || !EqualVectors(from.global_dims(), to.global_dims()) ||
      !EqualVectors(from.local_dims(), to.local_dims())) {
    return Invalid(absl::StrCat("carries into input ", index, " of another type or shape"));
  }
  if (from.summands() != to.summands()) {
    return Invalid(absl::StrCat("carries into input ", index, ", and only one of them has summands"));
  }
  const auto is_same = [](const RowRange* a, const RowRange* b) {
    return a->first() == b->first() && a->count() == b->count();
  };
  if (Size(from.rows()) != Size(to.rows()) ||
      (Size(to.rows()) != 0 && !std::equal(from.rows()->begin(), from.rows()->end(), to.rows()->begin(), is_same)))
    return Invalid(absl::StrCat("carries into input ", index, " of other rows"));
  if (from.owner_index() != to.owner_index() || !std::ranges::equal(AxesOf(from.owner()), AxesOf(to.owner()), SameAxis))
    return Invalid(absl::StrCat("carries into input ", index, " of another owner"));
  for (uint32_t i = 0; i < Size(from.local_dims()); ++i) {
    if (!std::ranges::equal(ShardingAxes(from, i), ShardingAxes(to, i), SameAxis) || Blocks(from, i) != Blocks(to, i)) {
      return Invalid(absl::StrCat("carries into input ", index, " of another sharding"));
    }
  }
  return absl::OkStatus();
}

// `seen`: roles of outputs before it.
absl::Status VerifyOutputRole(const Output& output, absl::flat_hash_set<OutputRole>& seen) {
  const OutputRole role = output.role();
  if (role == OutputRole::None) return absl::OkStatus();
  if (role > OutputRole::MAX) return Invalid(absl::StrCat("has the unknown role ", static_cast<int>(role)));
  const std::string has = absl::StrCat("has the role '", NameOf(role), "'");
  if (output.carry_input() != -1) return Invalid(absl::StrCat(has, ", and is carried"));
  const bool is_scalar = Size(output.type()->global_dims()) == 0;
  if (role == OutputRole::Loss && !(is_scalar && IsFloat(output.type()->element())))
    return Invalid(absl::StrCat(has, ", and is no floating-point scalar"));
  if (role == OutputRole::Commit && !(is_scalar && output.type()->element() == ElementType::Bool))
    return Invalid(absl::StrCat(has, ", and is no boolean scalar"));
  if (!seen.insert(role).second && role != OutputRole::Metric)
    return Invalid(absl::StrCat(has, ", as an output before it"));
  return absl::OkStatus();
}

absl::Status VerifyOutputs(const VerifyContext& context, const Program& program) {
  absl::flat_hash_set<int32_t> carried;
  absl::flat_hash_set<OutputRole> roles;
  for (uint32_t i = 0; i < Size(program.outputs()); ++i) {
    const Output& output = *program.outputs()->Get(i);
    const std::string where = absl::StrCat("output ", i, " ", Quoted(output.name()));
    if (absl::Status status = VerifyTensor(context, *output.type(), output.slice()); !status.ok())
      return In(where, status);
    if (absl::Status status = VerifyCarry(program, output, carried); !status.ok()) return In(where, status);
    if (absl::Status status = VerifyOutputRole(output, roles); !status.ok()) return In(where, status);
  }
  return absl::OkStatus();
}

// Location 0 may stand for "nowhere" in a program without locations.
absl::Status VerifyLocation(const Program& program, uint32_t loc) {
  if (loc == 0 || loc < Size(program.locations())) return absl::OkStatus();
  return Invalid(absl::StrCat("location ", loc, " of ", Size(program.locations())));
}

absl::Status VerifyOperationCounts(const Instruction& instruction) {
  for (uint32_t i = 0; i < Size(instruction.operations()); ++i) {
    const OperationCount& count = *instruction.operations()->Get(i);
    if (count.kind() > OperationKind::MAX || count.precision() > Precision::MAX)
      return Invalid("has operations of an unknown kind");
    if (!(count.count() >= 0) || std::isinf(count.count()))
      return Invalid("has a number of operations that is negative or not finite");
  }
  return absl::OkStatus();
}

// The first scope may be absent, as the first location.
absl::Status VerifyLabels(const Program& program, const Instruction& instruction) {
  if (instruction.phase() > Phase::MAX) return Invalid("is of an unknown phase");
  if (instruction.scope() == 0 || instruction.scope() < Size(program.scopes())) return absl::OkStatus();
  return Invalid(absl::StrCat("scope ", instruction.scope(), " of ", Size(program.scopes())));
}

absl::Status VerifyInstructions(const VerifyContext& context, const Program& program) {
  for (uint32_t i = 0; i < Size(program.instructions()); ++i) {
    const Instruction& instruction = *program.instructions()->Get(i);
    absl::Status status = VerifyOperation(context, instruction);
    if (status.ok()) status = VerifyLocation(program, instruction.loc());
    if (status.ok()) status = VerifyOperationCounts(instruction);
    if (status.ok()) status = VerifyLabels(program, instruction);
    if (!status.ok()) return In(absl::StrCat("instruction ", i, " (", OperationName(instruction), ")"), status);
  }
  return absl::OkStatus();
}

absl::Status VerifyCollectiveHash(const Program& program) {
  absl::StatusOr<Hash> hash = HashCollectives(program);
  if (!hash.ok()) return hash.status();
  const flatbuffers::Vector<uint8_t>* recorded = program.collective_hash();
  if (Size(recorded) != hash->size() || !std::equal(hash->begin(), hash->end(), recorded->begin())) {
    return Invalid("the recorded hash of its collectives is not theirs");
  }
  return absl::OkStatus();
}

absl::Status VerifyExplain(const Program& program, const Explain& explain) {
  if (explain.cause() > MovementCause::MAX) return Invalid("has an unknown cause");
  for (const double seconds : {explain.seconds(), explain.hidden_seconds()}) {
    if (!(seconds >= 0) || std::isinf(seconds)) return Invalid("has a time that is negative or not finite");
  }
  return VerifyLocation(program, explain.loc());
}

absl::Status VerifyProgram(const VerifyContext& context, const Program& program) {
  if (absl::Status status = VerifyInputs(context, program); !status.ok()) return status;
  if (absl::Status status = VerifyOutputs(context, program); !status.ok()) return status;
  if (absl::Status status = VerifyInstructions(context, program); !status.ok()) return status;
  if (absl::Status status = VerifyControlFlow(program); !status.ok()) return status;
  if (absl::Status status = VerifyStepWork(program); !status.ok()) return status;
  for (uint32_t i = 0; i < Size(program.explain()); ++i) {
    absl::Status status = VerifyExplain(program, *program.explain()->Get(i));
    if (!status.ok()) return In(absl::StrCat("explanation ", i), status);
  }
  if (absl::Status status = VerifyOverlap(program); !status.ok()) return status;
  return VerifyCollectiveHash(program);
}

absl::Status VerifyDevice(const DeviceModel* device) {
  if (device == nullptr) return absl::OkStatus();
  for (const double rate : {device->flops(), device->half_flops(), device->memory_bandwidth()}) {
    if (!(rate > 0) || std::isinf(rate))
      return Invalid("the device's operations or bytes per second are not positive and finite");
  }
  return absl::OkStatus();
}

absl::Status VerifySpaces(const Artifact& root, uint64_t constants_section_bytes) {
  if (root.private_bytes() > kMaxSpaceBytes || root.window_bytes() > kMaxSpaceBytes ||
      root.host_bytes() > kMaxSpaceBytes) {
    return Invalid("an arena is larger than 2^46 bytes");
  }
  if (root.host_bytes() != 0 && root.target()->string_view() == "cpu") {
    return Invalid(absl::StrCat("it keeps ", root.host_bytes(),
                                " bytes in memory of the host beside the device, and a cpu has no other"));
  }
  if (root.constant_bytes() != constants_section_bytes) {
    return Invalid(absl::StrCat("constant_bytes is ", root.constant_bytes(), " but the section holds ",
                                constants_section_bytes, " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyPlanName(const Artifact& root) {
  if (root.plan() != nullptr && root.plan()->size() == 0) return Invalid("the name of the plan is empty");
  return VerifyMesh(root);
}

absl::Status VerifyArtifact(const Artifact& root, uint64_t constants_section_bytes) {
  const VerifyContext context{.mesh = MeshOf(root),
                              .kernels = root.kernels(),
                              .private_bytes = root.private_bytes(),
                              .window_bytes = root.window_bytes(),
                              .constant_bytes = root.constant_bytes(),
                              .host_bytes = root.host_bytes()};
  if (absl::Status status = VerifyPlanName(root); !status.ok()) return status;
  if (absl::Status status = VerifySpaces(root, constants_section_bytes); !status.ok()) return status;
  if (absl::Status status = VerifyDevice(root.device()); !status.ok()) return status;
  if (absl::Status status = VerifyKernels(root); !status.ok()) return status;
  if (Size(root.programs()) == 0) return Invalid("the artifact holds no program");
  if (absl::Status status = VerifyStages(root, context.mesh); !status.ok()) return status;
  absl::flat_hash_set<std::string> names;
  for (const Program* program : *root.programs()) {
    std::string where = absl::StrCat("program ", Quoted(program->name()));
    if (Size(root.stages()) != 0) absl::StrAppend(&where, " of stage ", program->stage());
    const bool is_new = Size(root.stages()) != 0 || names.insert(program->name()->str()).second;
    if (program->name()->size() == 0 || !is_new) {
      return Invalid(absl::StrCat(where, ": the name is empty or used twice"));
    }
    const VerifyContext own = ContextOf(root, context, program->stage());
    if (absl::Status status = VerifyProgram(own, *program); !status.ok()) return In(where, status);
  }
  if (absl::Status status = VerifyWholes(root); !status.ok()) return status;
  return ProveMessages(root);
}

}  // namespace sgd::artifact
