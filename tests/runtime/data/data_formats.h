// Bytes of .npy and .npz files for tests, as NumPy writes them or not.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sgd::data {

template <typename T>
std::string TextOfValues(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
void AppendNumber(std::string& text, T number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

inline std::string NpyWithHeader(std::string_view header, std::string_view data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  AppendNumber(text, static_cast<uint16_t>(header.size()));
  return text.append(header).append(data);
}

// `shape` as "(3, 4)".
inline std::string Npy(const std::string& descr, const std::string& shape, std::string_view data) {
  return NpyWithHeader(absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, ", }    \n"),
                       data);
}

struct ZipText {
  std::string name;
  std::string bytes;
  bool is_deflated = false;
};

inline std::string Deflated(const std::string& bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// With `zip64` sizes and offsets are in records of Zip64.
inline std::string Zip(const std::vector<ZipText>& members, bool zip64 = false) {
  std::string text, directory;
  for (const ZipText& member : members) {
    const std::string stored = member.is_deflated ? Deflated(member.bytes) : member.bytes;
    const auto crc =
        static_cast<uint32_t>(crc32(crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(member.bytes.data()),
                                    static_cast<uInt>(member.bytes.size())));
    std::string extra;
    if (zip64) {
      AppendNumber<uint16_t>(extra, 1), AppendNumber<uint16_t>(extra, 24);
      AppendNumber<uint64_t>(extra, member.bytes.size()), AppendNumber<uint64_t>(extra, stored.size());
      AppendNumber<uint64_t>(extra, text.size());
    }
    const auto size = [&](uint64_t value) { return zip64 ? 0xffffffffu : static_cast<uint32_t>(value); };
    directory += "PK\x01\x02";
    std::string both;  // fields that both headers have
    for (uint16_t field : {20, 0, member.is_deflated ? 8 : 0, 0, 0}) AppendNumber(both, field);
    AppendNumber(both, crc), AppendNumber(both, size(stored.size())), AppendNumber(both, size(member.bytes.size()));
    AppendNumber(both, static_cast<uint16_t>(member.name.size())),
        AppendNumber(both, static_cast<uint16_t>(extra.size()));
    AppendNumber<uint16_t>(directory, 20);
    directory += both;
    for (uint16_t field : {0, 0, 0}) AppendNumber(directory, field);
    AppendNumber<uint32_t>(directory, 0), AppendNumber(directory, size(text.size()));
    directory += member.name + extra;
    text += "PK\x03\x04" + both + member.name + extra + stored;
  }
  const uint64_t offset = text.size(), count = members.size();
  text += directory;
  if (zip64) {
    const uint64_t end = text.size();
    text += "PK\x06\x06";
    AppendNumber<uint64_t>(text, 44), AppendNumber<uint32_t>(text, 0), AppendNumber<uint64_t>(text, 0);
    AppendNumber(text, count), AppendNumber(text, count);
    AppendNumber<uint64_t>(text, directory.size()), AppendNumber(text, offset);
    text += "PK\x06\x07";
    AppendNumber<uint32_t>(text, 0), AppendNumber(text, end), AppendNumber<uint32_t>(text, 1);
  }
  text += std::string("PK\x05\x06\0\0\0\0", 8);
  for (int i = 0; i < 2; ++i) AppendNumber(text, zip64 ? uint16_t{0xffff} : static_cast<uint16_t>(count));
  AppendNumber(text, zip64 ? 0xffffffffu : static_cast<uint32_t>(directory.size()));
  AppendNumber(text, zip64 ? 0xffffffffu : static_cast<uint32_t>(offset));
  AppendNumber<uint16_t>(text, 0);
  return text;
}

}  // namespace sgd::data
