// Finds what lies where in a FlatBuffer by the tables of types that flatc writes, and overwrites some of it.
#include "tests/runtime/artifact/program_mutator.h"

#include <flatbuffers/minireflect.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/artifact/collective.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/tree_size.h"

namespace sgd::testing {
namespace {

using flatbuffers::ElementaryType;
using flatbuffers::TypeCode;
using flatbuffers::TypeTable;
using flatbuffers::uoffset_t;
using flatbuffers::voffset_t;
using Random = std::mt19937_64;

struct Place {
  size_t at;
  size_t size;  // bytes
};

// Whatever an offset leads to: a table, a vector or a string.
struct Reference {
  size_t at;  // of the offset
  size_t target;
  const TypeTable* type;  // of the table, or of the vector's elements; null for others
  bool is_vector;
};

// Everything in a well-formed program, except for what lies in its table of kernels.
struct Anatomy {
  std::vector<Place> scalars, structs, lengths;
  std::vector<Reference> references;
};

class Anatomist {
 public:
  explicit Anatomist(const std::string& program) : bytes_(reinterpret_cast<const uint8_t*>(program.data())) {}

  Anatomy Run() {
    Table(flatbuffers::ReadScalar<uoffset_t>(bytes_), *artifact::ArtifactTypeTable());
    return std::move(anatomy_);
  }

 private:
  const TypeTable* ReferenceOf(const TypeTable& type, const TypeCode& code) {
    return code.sequence_ref < 0 ? nullptr : type.type_refs[code.sequence_ref]();
  }

  void Table(size_t at, const TypeTable& type) {
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(bytes_ + at);
    for (size_t i = 0; i < type.num_elems; ++i) {
      const voffset_t offset =
          table->GetOptionalFieldOffset(flatbuffers::FieldIndexToOffset(static_cast<voffset_t>(i)));
      const TypeTable* reference = ReferenceOf(type, type.type_codes[i]);
      const bool is_kernels = reference == artifact::KernelTypeTable();
      if (offset != 0 && !is_kernels) Field(at, i, at + offset, type, reference);
    }
  }

  void Field(size_t table, size_t index, size_t at, const TypeTable& type, const TypeTable* reference) {
    const TypeCode& code = type.type_codes[index];
    const auto kind = static_cast<ElementaryType>(code.base_type);
    if (code.is_repeating) return Vector(at, kind, reference);
    if (kind != flatbuffers::ET_SEQUENCE || reference->st != flatbuffers::ST_UNION) return Value(at, kind, reference);
    const voffset_t kind_offset =
        reinterpret_cast<const flatbuffers::Table*>(bytes_ + table)
            ->GetOptionalFieldOffset(flatbuffers::FieldIndexToOffset(static_cast<voffset_t>(index - 1)));
    const uint8_t member = kind_offset == 0 ? 0 : bytes_[table + kind_offset];
    const TypeTable* chosen =
        member < reference->num_elems ? ReferenceOf(*reference, reference->type_codes[member]) : nullptr;
    if (chosen != nullptr) Value(at, kind, chosen);
  }

  void Value(size_t at, ElementaryType kind, const TypeTable* type) {
    if (kind == flatbuffers::ET_STRING) {
      anatomy_.references.push_back({at, Target(at), nullptr, true});
    } else if (kind != flatbuffers::ET_SEQUENCE || type->st == flatbuffers::ST_ENUM) {
      anatomy_.scalars.push_back({at, flatbuffers::InlineSize(kind, type)});
    } else if (type->st == flatbuffers::ST_STRUCT) {
      Struct(at, *type);
    } else {
      anatomy_.references.push_back({at, Target(at), type, false});
      Table(Target(at), *type);
    }
  }

  void Struct(size_t at, const TypeTable& type) {
    anatomy_.structs.push_back({at, static_cast<size_t>(type.values[type.num_elems])});
    for (size_t i = 0; i < type.num_elems; ++i) {
      Value(at + static_cast<size_t>(type.values[i]), static_cast<ElementaryType>(type.type_codes[i].base_type),
            ReferenceOf(type, type.type_codes[i]));
    }
  }

  void Vector(size_t at, ElementaryType kind, const TypeTable* type) {
    const size_t vector = Target(at), size = flatbuffers::InlineSize(kind, type);
    anatomy_.references.push_back({at, vector, type, true});
    anatomy_.lengths.push_back({vector, sizeof(uoffset_t)});
    const uoffset_t count = flatbuffers::ReadScalar<uoffset_t>(bytes_ + vector);
    for (uoffset_t i = 0; i < count; ++i) Value(vector + sizeof(uoffset_t) + i * size, kind, type);
  }

  size_t Target(size_t at) const { return at + flatbuffers::ReadScalar<uoffset_t>(bytes_ + at); }

  const uint8_t* bytes_;
  Anatomy anatomy_;
};

template <typename T>
const T& Pick(const std::vector<T>& from, Random& random) {
  return from[random() % from.size()];
}

uint64_t Read(const std::string& program, const Place& place) {
  uint64_t value = 0;
  std::memcpy(&value, program.data() + place.at, std::min(place.size, sizeof(value)));
  return value;
}

void Write(std::string& program, const Place& place, uint64_t value) {
  std::memcpy(program.data() + place.at, &value, std::min(place.size, sizeof(value)));
}

// Numbers that are wrong in many ways, and some that may just be right.
uint64_t OddNumber(uint64_t old, Random& random) {
  switch (random() % 12) {
    case 0:
      return 0;
    case 1:
      return old + 1;
    case 2:
      return old - 1;
    case 3:
      return old * 2;
    case 4:
      return old / 2;
    case 5:
      return uint64_t{1} << random() % 64;
    case 6:
      return (uint64_t{1} << random() % 64) - 1;
    case 7:
      return ~(uint64_t{1} << random() % 64);
    case 8:
      return random();
    case 9:
      return old + 64 * (random() % 64);
    default:
      return random() % 20;
  }
}

class Mutator {
 public:
  Mutator(std::string program, Random& random)
      : random_(random),
        program_(std::move(program)),
        private_bytes_(artifact::GetArtifact(program_.data())->private_bytes()),
        window_bytes_(artifact::GetArtifact(program_.data())->window_bytes()),
        anatomy_(Anatomist(program_).Run()) {}

  Mutation Run() {
    Mutation mutation;
    const int changes = 1 + static_cast<int>(random_() % 4);
    for (int i = 0; i < changes; ++i) mutation.keeps_kernels = Change() && mutation.keeps_kernels;
    mutation.artifact = std::move(program_);
    return mutation;
  }

 private:
  // Returns whether the kernels are surely as they were.
  bool Change() {
    const uint64_t kind = random_() % 100;
    if (kind < 60) {
      const Place& place = Pick(anatomy_.scalars, random_);
      Write(program_, place, OddNumber(Read(program_, place), random_));
    } else if (kind < 70) {
      CopyScalar();
    } else if (kind < 76) {
      SwapStructs();
    } else if (kind < 82) {
      MoveToEnd();
    } else if (kind < 87) {
      const Place& place = Pick(anatomy_.lengths, random_);
      const uint64_t old = Read(program_, place);
      Write(program_, place, random_() % 4 == 0 ? OddNumber(old, random_) : random_() % (old + 2));
    } else if (kind < 97) {
      Redirect();
    } else {
      program_[random_() % program_.size()] ^= static_cast<char>(1 << random_() % 8);
      return false;
    }
    return true;
  }

  void CopyScalar() {
    const Place& to = Pick(anatomy_.scalars, random_);
    for (int attempt = 0; attempt < 20; ++attempt) {
      const Place& from = Pick(anatomy_.scalars, random_);
      if (from.size == to.size) return Write(program_, to, Read(program_, from));
    }
  }

  void SwapStructs() {
    const Place& one = Pick(anatomy_.structs, random_);
    for (int attempt = 0; attempt < 20; ++attempt) {
      const Place& other = Pick(anatomy_.structs, random_);
      if (other.size != one.size || other.at == one.at) continue;
      std::string copy = program_.substr(one.at, one.size);
      if (random_() % 2 == 0) program_.replace(one.at, one.size, program_, other.at, other.size);
      program_.replace(other.at, other.size, copy);
      return;
    }
  }

  // Behind the end of a space lies what must not be touched.
  void MoveToEnd() {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const Place& place = Pick(anatomy_.structs, random_);
      if (place.size != sizeof(artifact::Slice)) continue;
      artifact::Slice slice;
      std::memcpy(&slice, program_.data() + place.at, sizeof(slice));
      const uint64_t end = slice.space() == artifact::Space::Window ? window_bytes_ : private_bytes_;
      slice = artifact::Slice(slice.space(), end - slice.size(), slice.size());
      std::memcpy(program_.data() + place.at, &slice, sizeof(slice));
      return;
    }
  }

  // Offsets only lead forwards. Mostly to something of the same type, which is then shared.
  void Redirect() {
    const Reference& from = Pick(anatomy_.references, random_);
    for (int attempt = 0; attempt < 20; ++attempt) {
      const Reference& to = Pick(anatomy_.references, random_);
      const bool fits = to.type == from.type && to.is_vector == from.is_vector;
      if (to.target <= from.at || (!fits && random_() % 50 != 0)) continue;
      return Write(program_, {from.at, sizeof(uoffset_t)}, to.target - from.at);
    }
  }

  Random& random_;
  std::string program_;
  const uint64_t private_bytes_, window_bytes_;  // before any change
  Anatomy anatomy_;
};

// The hash of a program's collectives is its own again, where it can be computed at all.
void FixCollectiveHashes(std::string& program) {
  auto* bytes = reinterpret_cast<uint8_t*>(program.data());
  flatbuffers::Verifier verifier(bytes, program.size(), 16, 1 << 16);
  const artifact::Bytes content(bytes, program.size());
  if (!artifact::FitsAsTree(content, *artifact::ArtifactTypeTable(), 1 << 24, 16)) return;
  if (!artifact::VerifyArtifactBuffer(verifier)) return;
  const artifact::Artifact& root = *artifact::GetArtifact(bytes);
  for (uint32_t i = 0; i < artifact::Size(root.programs()); ++i) {
    const artifact::Program& changed = *root.programs()->Get(i);
    absl::StatusOr<artifact::Hash> hash = artifact::HashCollectives(changed);
    if (!hash.ok() || artifact::Size(changed.collective_hash()) != hash->size()) continue;
    std::copy(hash->begin(), hash->end(), bytes + (changed.collective_hash()->data() - bytes));
  }
}

// Copied: FlatBuffers' alignment is relative to the beginning.
std::string ProgramOf(std::string_view original) {
  const artifact::Bytes file(reinterpret_cast<const uint8_t*>(original.data()), original.size());
  const artifact::Sections sections = artifact::OpenContainer(file)->front();
  return {reinterpret_cast<const char*>(sections.program.data()), sections.program.size()};
}

// The artifact with another program and right hashes.
std::string WithProgram(std::string_view original, std::string program) {
  const artifact::Bytes file(reinterpret_cast<const uint8_t*>(original.data()), original.size());
  std::vector<artifact::Sections> plans = *artifact::OpenContainer(file);
  FixCollectiveHashes(program);
  plans.front().program = {reinterpret_cast<const uint8_t*>(program.data()), program.size()};
  return *artifact::BuildContainer(plans);
}

}  // namespace

Mutation Mutate(std::string_view original, Random& random) {
  Mutation mutation = Mutator(ProgramOf(original), random).Run();
  mutation.artifact = WithProgram(original, std::move(mutation.artifact));
  return mutation;
}

uint64_t CountNumbers(std::string_view original) { return Anatomist(ProgramOf(original)).Run().scalars.size(); }

Mutation ChangeNumber(std::string_view original, uint64_t index, uint64_t change) {
  std::string program = ProgramOf(original);
  const Place place = Anatomist(program).Run().scalars[index];
  const uint64_t old = Read(program, place);
  const uint64_t highest_bit = uint64_t{1} << (place.size * 8 - 1);
  const uint64_t values[kNumberChanges] = {0, 1, old + 1, old - 1, old * 2, highest_bit - 1, highest_bit, ~uint64_t{0}};
  Write(program, place, values[change]);
  return {WithProgram(original, std::move(program)), /*keeps_kernels=*/true};
}

}  // namespace sgd::testing
