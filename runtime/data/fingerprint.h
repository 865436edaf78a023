// Tells data files apart that have the same names and sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/data_files.h"
#include "runtime/data/safetensors.h"

namespace sgd::data {

// 16 hexadecimal digits of a hash of all names and types and of 64 samples of 16 KiB, evenly spaced over all tensors
// in the order of their names (of all bytes up to 1 MiB): equal for equal tensors, whatever their order in the file;
// almost surely another for files of other contents. Reads at most 1 MiB. Errors as SafetensorsFile::Read.
absl::StatusOr<std::string> FingerprintOf(const SafetensorsFile& file);

// The same of tensors of several files, in this order.
absl::StatusOr<std::string> FingerprintOf(const DataFiles& files, std::span<const DataTensor> tensors);

}  // namespace sgd::data
