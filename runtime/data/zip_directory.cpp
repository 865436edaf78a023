// Every field of the directory is checked against the archive before it is used; zlib inflates.
#include "runtime/data/zip_directory.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/data/safetensors.h"

namespace sgd::data {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr uint64_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20;
constexpr uint64_t kMostComment = 0xffff;
constexpr uint16_t kIn64Bits16 = 0xffff;
constexpr uint32_t kIn64Bits = 0xffffffff;  // the number is in a record of Zip64
constexpr uint64_t kMostRatio = 1032;       // of deflate (zlib's technical details)

absl::Status NotZip(const auto&... what) { return absl::InvalidArgumentError(absl::StrCat(what...)); }

absl::Status Damaged() {
  return NotZip("is a damaged zip archive: its directory does not fit its size; it may be truncated; copy it anew");
}

using Bytes = std::span<const std::byte>;

template <typename T>
T Load(Bytes bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// Whether [offset, offset + size) is within `bytes`.
bool Holds(Bytes bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t members = 0;
};

// The last end record whose comment ends with the archive.
std::optional<uint64_t> FindEnd(Bytes archive) {
  if (archive.size() < kEndBytes) return std::nullopt;
  const uint64_t last = archive.size() - kEndBytes;
  for (uint64_t comment = 0; comment <= std::min(last, kMostComment); ++comment) {
    const uint64_t at = last - comment;
    if (Load<uint32_t>(archive, at) == kEnd && Load<uint16_t>(archive, at + 20) == comment) return at;
  }
  return std::nullopt;
}

absl::StatusOr<Directory> FindDirectory(Bytes archive) {
  const std::optional<uint64_t> end = FindEnd(archive);
  if (!end) return NotZip("truncated: a zip archive without the directory at its end; copy it anew");
  Directory directory{.offset = Load<uint32_t>(archive, *end + 16),
                      .size = Load<uint32_t>(archive, *end + 12),
                      .members = Load<uint16_t>(archive, *end + 10)};
  const bool is_64 = directory.offset == kIn64Bits || directory.size == kIn64Bits || directory.members == kIn64Bits16;
  if (is_64 && *end >= kLocatorBytes && Load<uint32_t>(archive, *end - kLocatorBytes) == kLocator64) {
    const uint64_t at = Load<uint64_t>(archive, *end - kLocatorBytes + 8);
    if (!Holds(archive, at, kEnd64Bytes) || Load<uint32_t>(archive, at) != kEnd64) return Damaged();
    directory = {.offset = Load<uint64_t>(archive, at + 48),
                 .size = Load<uint64_t>(archive, at + 40),
                 .members = Load<uint64_t>(archive, at + 32)};
  }
  if (!Holds(archive.first(*end), directory.offset, directory.size) || directory.members > directory.size / kEntryBytes)
    return Damaged();
  return directory;
}

// Replaces the numbers that an entry leaves to its Zip64 record, in the order that the format gives them.
bool ReadZip64(Bytes extra, std::initializer_list<uint64_t*> numbers) {
  while (extra.size() >= 4) {
    const uint16_t kind = Load<uint16_t>(extra, 0), size = Load<uint16_t>(extra, 2);
    if (size > extra.size() - 4) return false;
    Bytes record = extra.subspan(4, size);
    extra = extra.subspan(4 + size);
    if (kind != 1) continue;
    for (uint64_t* number : numbers) {
      if (*number != kIn64Bits) continue;
      if (record.size() < 8) return false;
      *number = Load<uint64_t>(record, 0);
      record = record.subspan(8);
    }
    return true;
  }
  return std::ranges::none_of(numbers, [](const uint64_t* number) { return *number == kIn64Bits; });
}

// An entry of the directory; `offset` becomes that of its local header. Removes it from `entries`.
absl::Status ReadEntry(Bytes& entries, ZipMember& member) {
  if (entries.size() < kEntryBytes || Load<uint32_t>(entries, 0) != kEntry) return Damaged();
  const uint64_t name = Load<uint16_t>(entries, 28), extra = Load<uint16_t>(entries, 30),
                 comment = Load<uint16_t>(entries, 32);
  if (!Holds(entries, kEntryBytes, name + extra + comment)) return Damaged();
  member.name.assign(reinterpret_cast<const char*>(entries.data()) + kEntryBytes, name);
  member.crc = Load<uint32_t>(entries, 16);
  member.stored_size = Load<uint32_t>(entries, 20);
  member.size = Load<uint32_t>(entries, 24);
  member.offset = Load<uint32_t>(entries, 42);
  if (!ReadZip64(entries.subspan(kEntryBytes + name, extra), {&member.size, &member.stored_size, &member.offset}))
    return Damaged();
  const uint16_t flags = Load<uint16_t>(entries, 8), method = Load<uint16_t>(entries, 10);
  const std::string where = absl::StrCat("member ", QuotedName(member.name), ": ");
  if ((flags & 1) != 0) return NotZip(where, "is encrypted; expected numpy.savez's form; write it by that");
  if (method != 0 && method != Z_DEFLATED)
    return NotZip(where, "is compressed by method ", method, "; expected stored or deflated; write it by numpy.savez");
  member.is_deflated = method == Z_DEFLATED;
  entries = entries.subspan(kEntryBytes + name + extra + comment);
  return absl::OkStatus();
}

// From the local header to the bytes behind it; `begin` becomes the header's offset.
absl::Status FindBytes(Bytes archive, uint64_t directory, ZipMember& member, uint64_t& begin) {
  begin = member.offset;
  const Bytes before = archive.first(directory);
  if (!Holds(before, begin, kLocalBytes) || Load<uint32_t>(archive, begin) != kLocalHeader) return Damaged();
  const uint64_t name = Load<uint16_t>(archive, begin + 26), extra = Load<uint16_t>(archive, begin + 28);
  member.offset = begin + kLocalBytes + name + extra;
  if (!Holds(before, member.offset, member.stored_size)) return Damaged();
  if (!member.is_deflated && member.size != member.stored_size) return Damaged();
  return absl::OkStatus();
}

// zlib counts in 32 bits.
constexpr uint64_t kMostAtOnce = uint64_t{1} << 30;

class Inflater {
 public:
  Inflater() = default;
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool Start(Bytes deflated) {
    constexpr int kWithoutHeader = -15;
    source_ = deflated;
    return inflateInit2(&stream_, kWithoutHeader) == Z_OK;
  }

  // Fills `target` as far as there are bytes; returns their number.
  uint64_t Run(std::span<std::byte> target) {
    uint64_t filled = 0;
    while (result_ == Z_OK && filled < target.size()) {
      const uint64_t room = std::min(target.size() - filled, kMostAtOnce);
      const uint64_t given = std::min<uint64_t>(source_.size(), kMostAtOnce);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(source_.data()));
      stream_.avail_in = static_cast<uInt>(given);
      stream_.next_out = reinterpret_cast<Bytef*>(target.data() + filled);
      stream_.avail_out = static_cast<uInt>(room);
      result_ = inflate(&stream_, Z_NO_FLUSH);
      source_ = source_.subspan(given - stream_.avail_in);
      filled += room - stream_.avail_out;
    }
    return filled;
  }

  bool is_at_end() const { return result_ == Z_STREAM_END; }

 private:
  z_stream stream_ = {};
  Bytes source_;
  int result_ = Z_OK;
};

uint32_t CrcOf(Bytes bytes) {
  uLong crc = crc32(0, nullptr, 0);
  for (uint64_t begin = 0; begin < bytes.size(); begin += kMostAtOnce) {
    const Bytes part = bytes.subspan(begin, std::min(bytes.size() - begin, kMostAtOnce));
    crc = crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
  }
  return static_cast<uint32_t>(crc);
}

}  // namespace

bool IsZip(Bytes bytes) { return bytes.size() >= 4 && Load<uint32_t>(bytes, 0) == kLocalHeader; }

absl::StatusOr<std::vector<ZipMember>> ReadZipDirectory(Bytes archive) {
  absl::StatusOr<Directory> directory = FindDirectory(archive);
  if (!directory.ok()) return directory.status();
  Bytes entries = archive.subspan(directory->offset, directory->size);
  std::vector<ZipMember> members(directory->members);
  std::vector<std::pair<uint64_t, const ZipMember*>> begins;
  for (ZipMember& member : members) {
    if (absl::Status status = ReadEntry(entries, member); !status.ok()) return status;
    uint64_t begin = 0;
    if (absl::Status status = FindBytes(archive, directory->offset, member, begin); !status.ok()) return status;
    begins.emplace_back(begin, &member);
  }
  std::ranges::sort(begins);
  for (size_t i = 1; i < begins.size(); ++i) {
    const ZipMember& before = *begins[i - 1].second;
    if (before.offset + before.stored_size > begins[i].first) {
      return NotZip("members ", QuotedName(before.name), " and ", QuotedName(begins[i].second->name),
                    " overlap; expected members one behind the other; write it by numpy.savez");
    }
  }
  return members;
}

absl::StatusOr<std::vector<std::byte>> Inflate(Bytes archive, const ZipMember& member) {
  const auto damaged = [&](const auto&... what) {
    return absl::DataLossError(
        absl::StrCat("member ", QuotedName(member.name), ": is damaged: ", what..., "; copy it anew"));
  };
  if (member.size / kMostRatio > member.stored_size)
    return damaged(member.stored_size, " bytes cannot be ", member.size, " when inflated");
  std::vector<std::byte> bytes(member.size);
  Inflater inflater;
  if (!inflater.Start(archive.subspan(member.offset, member.stored_size)))
    return absl::ResourceExhaustedError("zlib has no memory");
  const uint64_t count = inflater.Run(bytes);
  std::byte more;
  if (count == bytes.size() && inflater.Run({&more, 1}) == 1)
    return damaged("more than its ", member.size, " bytes when inflated");
  if (!inflater.is_at_end()) return damaged("no deflated data, or cut short");
  if (count < bytes.size()) return damaged(count, " bytes when inflated; expected ", member.size);
  if (CrcOf(bytes) != member.crc) return damaged("its CRC is not the directory's");
  return bytes;
}

}  // namespace sgd::data
