// Walks over what flatc says of the types, so that new ones are counted too. Scalars and structs within a table are
// left to the verifier that flatc generates.
#include "runtime/artifact/tree_size.h"

#include <flatbuffers/minireflect.h>

#include <algorithm>
#include <cstdint>

namespace sgd::artifact {
namespace {

using flatbuffers::ElementaryType;
using flatbuffers::TypeCode;
using flatbuffers::TypeTable;
using flatbuffers::uoffset_t;
using flatbuffers::voffset_t;

// A reference to a table and its own offset to its field numbers.
constexpr uint64_t kTableBytes = 8;

const TypeTable* ReferenceOf(const TypeTable& type, const TypeCode& code) {
  return code.sequence_ref < 0 ? nullptr : type.type_refs[code.sequence_ref]();
}

// Alignment of an element of a vector.
size_t AlignmentOf(ElementaryType element, const TypeTable* reference) {
  if (element != flatbuffers::ET_SEQUENCE || reference->st != flatbuffers::ST_STRUCT)
    return flatbuffers::InlineSize(element, reference);
  size_t alignment = 1;
  for (size_t i = 0; i < reference->num_elems; ++i) {
    const TypeCode& code = reference->type_codes[i];
    alignment =
        std::max(alignment, AlignmentOf(static_cast<ElementaryType>(code.base_type), ReferenceOf(*reference, code)));
  }
  return alignment;
}

class Walk {
 public:
  Walk(Bytes bytes, uint64_t most_bytes, uint32_t most_depth)
      : bytes_(bytes),
        left_(most_bytes),
        verifier_(bytes.data(), bytes.size(), most_depth, static_cast<uoffset_t>(most_bytes / kTableBytes + 1)) {}

  bool Root(const TypeTable& type) {
    const uoffset_t offset = verifier_.VerifyOffset(size_t{0});
    return offset != 0 && Table(bytes_.data() + offset, type);
  }

 private:
  bool Spend(uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

  bool Table(const uint8_t* table, const TypeTable& type) {
    if (!Spend(kTableBytes) || !verifier_.VerifyTableStart(table)) return false;
    const auto* fields = reinterpret_cast<const flatbuffers::Table*>(table);
    for (size_t i = 0; i < type.num_elems; ++i) {
      const voffset_t offset =
          fields->GetOptionalFieldOffset(flatbuffers::FieldIndexToOffset(static_cast<voffset_t>(i)));
      if (offset != 0 && !Field(table, i, offset, type)) return false;
    }
    return verifier_.EndTable();
  }

  bool Field(const uint8_t* table, size_t index, voffset_t offset, const TypeTable& type) {
    const TypeCode& code = type.type_codes[index];
    const TypeTable* reference = ReferenceOf(type, code);
    if (code.is_repeating) return Vector(table, offset, static_cast<ElementaryType>(code.base_type), reference);
    if (code.base_type == flatbuffers::ET_STRING) return String(table + offset);
    if (code.base_type != flatbuffers::ET_SEQUENCE || reference->st == flatbuffers::ST_STRUCT) return true;
    if (reference->st == flatbuffers::ST_TABLE) return TableAt(table + offset, *reference);
    return Union(table, index, offset, *reference);
  }

  // The field before says which of the union's tables it is; what is unknown is left to those who read it.
  bool Union(const uint8_t* table, size_t index, voffset_t offset, const TypeTable& type) {
    const voffset_t kind_offset = reinterpret_cast<const flatbuffers::Table*>(table)->GetOptionalFieldOffset(
        flatbuffers::FieldIndexToOffset(static_cast<voffset_t>(index - 1)));
    if (kind_offset == 0) return true;
    if (!verifier_.VerifyField<uint8_t>(table, kind_offset, 1)) return false;
    const uint8_t kind = *(table + kind_offset);
    if (kind >= type.num_elems) return true;
    const TypeTable* member = ReferenceOf(type, type.type_codes[kind]);
    return member == nullptr || TableAt(table + offset, *member);
  }

  // The target of the offset at `place`; null where it leads out.
  const uint8_t* Target(const uint8_t* place) {
    const uoffset_t offset = verifier_.VerifyOffset(static_cast<size_t>(place - bytes_.data()));
    return offset == 0 ? nullptr : place + offset;
  }

  bool TableAt(const uint8_t* place, const TypeTable& type) {
    const uint8_t* table = Target(place);
    return table != nullptr && Table(table, type);
  }

  bool String(const uint8_t* place) {
    const auto* text = reinterpret_cast<const flatbuffers::String*>(Target(place));
    return text != nullptr && verifier_.VerifyString(text) && Spend(sizeof(uoffset_t) + text->size());
  }

  bool Vector(const uint8_t* table, voffset_t offset, ElementaryType element, const TypeTable* reference) {
    const uint8_t* vector = Target(table + offset);
    const size_t size = flatbuffers::InlineSize(element, reference);
    if (vector == nullptr || !verifier_.VerifyVectorOrString(vector, size)) return false;
    const uoffset_t count = flatbuffers::ReadScalar<uoffset_t>(vector);
    if (!Spend(sizeof(uoffset_t) + uint64_t{count} * size)) return false;
    const bool holds_tables = reference != nullptr && reference->st == flatbuffers::ST_TABLE;
    const uint8_t* place = vector + sizeof(uoffset_t);
    // FlatBuffers' own verifier looks at where a vector begins, not at where its elements do.
    if (count != 0 && reinterpret_cast<uintptr_t>(place) % AlignmentOf(element, reference) != 0) return false;
    for (uoffset_t i = 0; i < count && (holds_tables || element == flatbuffers::ET_STRING); ++i, place += size) {
      if (holds_tables ? !TableAt(place, *reference) : !String(place)) return false;
    }
    return true;
  }

  const Bytes bytes_;
  uint64_t left_;
  flatbuffers::Verifier verifier_;
};

}  // namespace

bool FitsAsTree(Bytes bytes, const TypeTable& type, uint64_t most_bytes, uint32_t most_depth) {
  return Walk(bytes, most_bytes, most_depth).Root(type);
}

}  // namespace sgd::artifact
