// The outer layout of an .sgda file: header, section table, sections; knows nothing about what the
// sections mean.
//
//   [0, 64)     FileHeader
//   [64, ...)   section_count x SectionEntry, by plan and then in the order of SectionKind, each kind at most once
//   in a plan; an entry equal to one of an earlier plan but for the plan shares its section, the offsets of all
//   others ascend
//   ...         sections; programs aligned to 16 bytes, kernels and constants to pages; all
//   bytes between are zero
//
// FileHeader.hash is the SHA-256 of the header (with the hash zeroed) and the section table; the
// table holds the SHA-256 of each section, and bytes outside of sections must be zero. So every bit
// of the file is covered, and each byte is hashed once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sgd::artifact {

using Hash = std::array<uint8_t, 32>;
using Bytes = std::span<const uint8_t>;

// SHA-256 of the bytes.
absl::StatusOr<Hash> Sha256(Bytes bytes);
// 64 lower-case hexadecimal digits.
std::string HexHash(const Hash& hash);

inline constexpr std::array<uint8_t, 8> kMagic = {0x89, 'S', 'G', 'D', 'A', '\r', '\n', 0x1a};
inline constexpr uint32_t kFormatVersion = 4;
inline constexpr uint64_t kPageSize = 4096;
inline constexpr uint64_t kProgramAlignment = 16;

enum class SectionKind : uint32_t { Program = 1, Kernels = 2, Constants = 3 };
inline constexpr uint32_t kSectionKinds = 3;
inline constexpr uint32_t kMostPlans = 256;
const char* SectionName(SectionKind kind);

struct FileHeader {
  std::array<uint8_t, 8> magic;
  uint32_t version;
  uint32_t section_count;
  uint64_t total_size;  // of the file, bytes
  Hash hash;
  uint64_t reserved;  // zero
};
static_assert(sizeof(FileHeader) == 64);

struct SectionEntry {
  uint32_t kind;
  uint32_t plan;    // from 0, without gaps
  uint64_t offset;  // from the beginning of the file
  uint64_t size;
  Hash hash;
};
static_assert(sizeof(SectionEntry) == 56);

// The sections of a plan. `program` is required; empty kernels or constants take no section.
struct Sections {
  Bytes program{};
  Bytes kernels{};
  Bytes constants{};
  Hash hash{};  // FileHeader.hash, set by OpenContainer
};

// The file's bytes, for 1 to kMostPlans plans: the same sections give the same bytes. Equal sections of several plans
// are stored once.
absl::StatusOr<std::string> BuildContainer(const std::vector<Sections>& plans);

// The plans, at least one, as views of the sections inside `file`, which must outlive them. Any truncation, extension
// or flipped bit is an InvalidArgument error of one line that names the part at fault.
absl::StatusOr<std::vector<Sections>> OpenContainer(Bytes file);

}  // namespace sgd::artifact
