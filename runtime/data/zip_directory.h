// The members of a zip archive, as numpy.savez and numpy.savez_compressed write them; it does not trust the archive.
// Format: PKWARE's APPNOTE 6.3, with the records of Zip64. A directory at the file's end lists the members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace sgd::data {

struct ZipMember {
  std::string name;
  uint64_t offset = 0;       // of its bytes in the archive
  uint64_t stored_size = 0;  // of these, as they are there
  uint64_t size = 0;         // inflated
  uint32_t crc = 0;          // of the inflated bytes
  bool is_deflated = false;
};

// Whether a file with these first bytes says that it is one.
bool IsZip(std::span<const std::byte> bytes);

// In the order of the directory. InvalidArgument, completing "FILE: ", for an archive that is cut short, members that
// overlap each other or the directory, that are encrypted, or compressed by anything but deflate.
absl::StatusOr<std::vector<ZipMember>> ReadZipDirectory(std::span<const std::byte> archive);

// The bytes of a deflated member. At most 1,032 times as many as are stored, which is what deflate can do. DataLoss for
// bytes that are no deflated data, of another size or of another CRC than the directory says.
absl::StatusOr<std::vector<std::byte>> Inflate(std::span<const std::byte> archive, const ZipMember& member);

}  // namespace sgd::data
