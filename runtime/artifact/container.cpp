// Lays out and checks containers; every size is checked before it is used, since the file may be
// anything.
#include "runtime/artifact/container.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace sgd::artifact {
namespace {

struct Part {
  SectionKind kind;
  uint32_t plan;
  Bytes bytes;
};

// The end of messages of files that are not as they were written.
constexpr char kDamaged[] = "; expected the file as it was written; copy it again, or compile the model again";

uint64_t AlignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

uint64_t AlignmentOf(SectionKind kind) { return kind == SectionKind::Program ? kProgramAlignment : kPageSize; }

uint64_t TableEnd(uint64_t section_count) { return sizeof(FileHeader) + section_count * sizeof(SectionEntry); }

// Hash of the header with its hash field zeroed, and of the section table behind it.
absl::StatusOr<Hash> HashHead(Bytes file, uint64_t section_count) {
  std::vector<uint8_t> head(file.begin(), file.begin() + TableEnd(section_count));
  std::memset(head.data() + offsetof(FileHeader, hash), 0, sizeof(Hash));
  return Sha256(head);
}

absl::Status CheckHeader(Bytes file, const FileHeader& header) {
  if (header.magic != kMagic)
    return absl::InvalidArgumentError(
        "is not an sgd artifact: its magic number is another; expected a file that sgdc wrote; compile a model first: "
        "sgdc MODEL -o FILE.sgda");
  if (header.version != kFormatVersion) {
    return absl::InvalidArgumentError(absl::StrCat("has format version ", header.version, "; expected version ",
                                                   kFormatVersion,
                                                   "; compile the model again with the sgdc of this version"));
  }
  if (header.total_size != file.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.size() < header.total_size ? "truncated: " : "damaged header or too long: ", file.size(),
                     " bytes where the header says ", header.total_size, kDamaged));
  }
  if (header.section_count == 0 || header.section_count > kSectionKinds * kMostPlans ||
      TableEnd(header.section_count) > file.size()) {
    return absl::InvalidArgumentError(absl::StrCat("damaged header: ", header.section_count, " sections", kDamaged));
  }
  absl::StatusOr<Hash> hash = HashHead(file, header.section_count);
  if (!hash.ok()) return hash.status();
  if (*hash != header.hash) {
    return absl::InvalidArgumentError(absl::StrCat("damaged header or section table (SHA-256 differs)", kDamaged));
  }
  return absl::OkStatus();
}

bool AllZero(Bytes bytes) {
  for (uint8_t byte : bytes) {
    if (byte != 0) return false;
  }
  return true;
}

// Whether both are one section of the file.
bool AreShared(const SectionEntry& a, const SectionEntry& b) {
  return a.kind == b.kind && a.offset == b.offset && a.size == b.size && a.hash == b.hash;
}

bool IsShared(const SectionEntry& entry, const std::vector<SectionEntry>& table) {
  return std::ranges::any_of(table, [&](const SectionEntry& other) { return AreShared(other, entry); });
}

// Where the entry stands among those before it in the table.
absl::Status CheckOrder(const SectionEntry& entry, const std::vector<SectionEntry>& table) {
  if (entry.kind < 1 || entry.kind > kSectionKinds)
    return absl::InvalidArgumentError(absl::StrCat("section of unknown kind ", entry.kind));
  const bool begins_plan = entry.kind == static_cast<uint32_t>(SectionKind::Program);
  const uint32_t plan = table.empty() ? 0 : table.back().plan + (begins_plan ? 1 : 0);
  if (entry.plan != plan || begins_plan != (table.empty() || entry.plan != table.back().plan) ||
      (!begins_plan && entry.kind <= table.back().kind)) {
    return absl::InvalidArgumentError(absl::StrCat("section '", SectionName(static_cast<SectionKind>(entry.kind)),
                                                   "' of plan ", entry.plan, " is repeated or out of order"));
  }
  return absl::OkStatus();
}

absl::Status CheckSection(Bytes file, const SectionEntry& entry, uint64_t previous_end) {
  const SectionKind kind = static_cast<SectionKind>(entry.kind);
  const char* name = SectionName(kind);
  if (entry.offset < previous_end || entry.offset > file.size() || entry.size > file.size() - entry.offset ||
      entry.offset % AlignmentOf(kind) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("section '", name, "' at offset ", entry.offset, " with ",
                                                   entry.size,
                                                   " bytes is misaligned, overlapping or outside of the file"));
  }
  if (!AllZero(file.subspan(previous_end, entry.offset - previous_end))) {
    return absl::InvalidArgumentError(absl::StrCat("damaged padding before section '", name, "'", kDamaged));
  }
  absl::StatusOr<Hash> hash = Sha256(file.subspan(entry.offset, entry.size));
  if (!hash.ok()) return hash.status();
  if (*hash != entry.hash) {
    return absl::InvalidArgumentError(absl::StrCat("damaged section '", name, "' (SHA-256 differs)", kDamaged));
  }
  return absl::OkStatus();
}

Bytes& ViewOf(Sections& sections, SectionKind kind) {
  switch (kind) {
    case SectionKind::Kernels:
      return sections.kernels;
    case SectionKind::Constants:
      return sections.constants;
    case SectionKind::Program:
      break;
  }
  return sections.program;
}

std::vector<Part> PartsOf(const std::vector<Sections>& plans) {
  std::vector<Part> parts;
  for (uint32_t plan = 0; plan < plans.size(); ++plan) {
    parts.push_back({SectionKind::Program, plan, plans[plan].program});
    if (!plans[plan].kernels.empty()) parts.push_back({SectionKind::Kernels, plan, plans[plan].kernels});
    if (!plans[plan].constants.empty()) parts.push_back({SectionKind::Constants, plan, plans[plan].constants});
  }
  return parts;
}

// Appends the part to `file` unless an equal one of `table` is there. Its entry.
absl::StatusOr<SectionEntry> Place(const Part& part, const std::vector<SectionEntry>& table, std::string& file) {
  absl::StatusOr<Hash> hash = Sha256(part.bytes);
  if (!hash.ok()) return hash.status();
  SectionEntry entry = {static_cast<uint32_t>(part.kind), part.plan, 0, part.bytes.size(), *hash};
  for (const SectionEntry& other : table) {
    entry.offset = other.offset;
    if (AreShared(other, entry)) return entry;
  }
  file.resize(AlignUp(file.size(), AlignmentOf(part.kind)), '\0');
  entry.offset = file.size();
  file.append(reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size());
  return entry;
}

}  // namespace

absl::StatusOr<Hash> Sha256(Bytes bytes) {
  Hash hash;
  if (EVP_Digest(bytes.data(), bytes.size(), hash.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    return absl::InternalError("libcrypto cannot compute SHA-256");
  }
  return hash;
}

std::string HexHash(const Hash& hash) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

const char* SectionName(SectionKind kind) {
  switch (kind) {
    case SectionKind::Program:
      return "program";
    case SectionKind::Kernels:
      return "kernels";
    case SectionKind::Constants:
      return "constants";
  }
  return "?";
}

absl::StatusOr<std::string> BuildContainer(const std::vector<Sections>& plans) {
  if (plans.empty() || plans.size() > kMostPlans)
    return absl::InvalidArgumentError(absl::StrCat("has ", plans.size(), " plans; expected 1 to ", kMostPlans));
  const std::vector<Part> parts = PartsOf(plans);
  std::string file(TableEnd(parts.size()), '\0');
  std::vector<SectionEntry> table;
  for (const Part& part : parts) {
    absl::StatusOr<SectionEntry> entry = Place(part, table, file);
    if (!entry.ok()) return entry.status();
    table.push_back(*entry);
  }

  FileHeader header{kMagic, kFormatVersion, static_cast<uint32_t>(parts.size()), file.size(), {}, 0};
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), table.data(), table.size() * sizeof(SectionEntry));
  const Bytes view(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  absl::StatusOr<Hash> hash = HashHead(view, parts.size());
  if (!hash.ok()) return hash.status();
  std::memcpy(file.data() + offsetof(FileHeader, hash), hash->data(), hash->size());
  return file;
}

absl::StatusOr<std::vector<Sections>> OpenContainer(Bytes file) {
  if (file.size() < sizeof(FileHeader)) {
    return absl::InvalidArgumentError(
        absl::StrCat("is not an sgd artifact: ", file.size(),
                     " bytes are less than a header; expected a file that sgdc wrote; give its path"));
  }
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  if (absl::Status status = CheckHeader(file, header); !status.ok()) return status;

  std::vector<Sections> plans;
  std::vector<SectionEntry> table;
  uint64_t previous_end = TableEnd(header.section_count);
  for (uint32_t i = 0; i < header.section_count; ++i) {
    SectionEntry entry;
    std::memcpy(&entry, file.data() + TableEnd(i), sizeof(entry));
    if (absl::Status status = CheckOrder(entry, table); !status.ok()) return status;
    if (!IsShared(entry, table)) {
      if (absl::Status status = CheckSection(file, entry, previous_end); !status.ok()) return status;
      previous_end = entry.offset + entry.size;
    }
    if (entry.plan == plans.size()) plans.push_back({.hash = header.hash});
    ViewOf(plans.back(), static_cast<SectionKind>(entry.kind)) = file.subspan(entry.offset, entry.size);
    table.push_back(entry);
  }
  if (previous_end != file.size()) {
    return absl::InvalidArgumentError(absl::StrCat("has bytes behind its last section", kDamaged));
  }
  for (const Sections& plan : plans)
    if (plan.program.empty()) return absl::InvalidArgumentError("has a plan with an empty program section");
  return plans;
}

}  // namespace sgd::artifact
