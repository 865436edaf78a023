// Temporary folders and small tensor files for tests; removes what it makes.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/data/tensor_file_writer.h"

namespace sgd::data {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "sgd-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  size_t files() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

 private:
  std::string path_;
};

inline void WriteText(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

inline std::string ReadText(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A safetensors file with this header and data, whether or not they make sense.
inline void WriteSafetensors(const std::string& path, std::string_view header, std::string_view data) {
  const uint64_t length = header.size();
  std::string text(reinterpret_cast<const char*>(&length), sizeof(length));
  WriteText(path, text.append(header).append(data));
}

inline void WriteTensor(TensorFileWriter& writer, size_t index, const void* values) {
  // memcpy takes no null pointer, which an empty tensor's values are.
  if (const std::span<std::byte> bytes = writer.Bytes(index); !bytes.empty()) {
    std::memcpy(bytes.data(), values, bytes.size());
  }
}

template <typename T>
std::vector<T> Values(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Writes i32 tensors counting from `base` in row-major order.
inline void WriteCounting(const std::string& path, const std::vector<std::pair<std::string, Dims>>& tensors,
                          int base = 0) {
  std::vector<TensorSpec> specs;
  for (const auto& [name, dims] : tensors) specs.push_back({name, ElementType::I32, dims});
  absl::StatusOr<TensorFileWriter> writer = TensorFileWriter::Create(path, specs);
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (size_t i = 0; i < specs.size(); ++i) {
    std::vector<int32_t> values(writer->Bytes(i).size() / 4);
    for (size_t k = 0; k < values.size(); ++k) values[k] = base + static_cast<int>(k);
    WriteTensor(*writer, i, values.data());
  }
  ASSERT_TRUE(writer->Commit().ok());
}

}  // namespace sgd::data
