// Files of tensors and checkpoints, as the runtime reads and writes them.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "python/module/buffers.h"
#include "python/module/errors.h"
#include "python/module/parts.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/writer.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/save.h"
#include "runtime/checkpoint/sharded_file.h"
#include "runtime/data/safetensors.h"
#include "runtime/data/tensor_file_writer.h"

namespace sgd::python {
namespace {

namespace nb = nanobind;

// (name, element type, dimensions, buffer) of each tensor, sorted by name.
struct GivenTensors {
  std::vector<data::TensorSpec> specs;
  std::map<std::string, nb::object> buffers;

  explicit GivenTensors(nb::list tensors) {
    for (nb::handle tensor : tensors) {
      const nb::tuple fields = nb::cast<nb::tuple>(tensor);
      const auto name = nb::cast<std::string>(fields[0]), element = nb::cast<std::string>(fields[1]);
      const std::optional<data::ElementType> type = artifact::ElementFromName(element);
      if (!type) Throw(absl::InvalidArgumentError(absl::StrCat(name, ": there is no element type '", element, "'")));
      specs.push_back({name, *type, nb::cast<std::vector<uint64_t>>(fields[2])});
      buffers[name] = nb::borrow(fields[3]);
    }
  }
  void CopyTo(data::TensorFileWriter& writer) const {
    for (size_t i = 0; i < writer.specs().size(); ++i) {
      const Buffer buffer(buffers.at(writer.specs()[i].name), Buffer::Access::kRead);
      const std::span<std::byte> target = writer.Bytes(i);
      if (buffer.bytes().size() != target.size())
        Throw(absl::InvalidArgumentError(
            absl::StrCat(writer.specs()[i].name, ": ", buffer.bytes().size(), " bytes; expected ", target.size())));
      std::ranges::copy(buffer.bytes(), target.begin());
    }
  }
};

void WriteTensors(const std::string& path, nb::list tensors, const std::map<std::string, std::string>& metadata) {
  const GivenTensors given(tensors);
  data::TensorFileWriter writer = Take(data::TensorFileWriter::Create(path, given.specs, metadata));
  given.CopyTo(writer);
  const absl::Status status = [&] {
    const nb::gil_scoped_release unlocked;
    return writer.Commit();
  }();
  Check(status);
}

// (name, element type, dimensions, bytes) of each.
nb::list ListOf(const data::SafetensorsFile& file) {
  nb::list all;
  for (const data::TensorEntry& entry : file.tensors()) {
    const std::span<const std::byte> bytes = file.Bytes(entry);
    const nb::object copy =
        nb::steal(PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    all.append(nb::make_tuple(entry.name, artifact::ElementName(entry.element), entry.dims, copy));
    file.Release(entry);
  }
  return all;
}

// Of a file, a checkpoint, or the newest of a folder of checkpoints, with the steps that it is after; -1 for a file.
nb::tuple ReadTensors(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    const data::SafetensorsFile file = Take(data::SafetensorsFile::Open(path));
    return nb::make_tuple(ListOf(file), -1, path);
  }
  const checkpoint::Checkpoint opened = Take(checkpoint::OpenCheckpoint(path));
  return nb::make_tuple(ListOf(opened.state), opened.point.step, opened.path);
}

// A checkpoint that a run resumes from.
void SaveCheckpoint(const std::string& directory, nb::list tensors, uint64_t step, const std::string& program,
                    uint64_t seed) {
  const GivenTensors given(tensors);
  checkpoint::TrainingPoint point;
  point.step = step;
  point.program = program;
  point.seed = seed;
  Check(checkpoint::CheckWritable(directory));
  data::TensorFileWriter image = Take(data::TensorFileWriter::CreateInMemory(given.specs, checkpoint::StateMetadata()));
  given.CopyTo(image);
  const absl::Status status = [&] {
    const nb::gil_scoped_release unlocked;
    return checkpoint::SaveImage(directory, point, image.image(), checkpoint::kNotCompressed,
                                 [] { return absl::OkStatus(); })
        .status();
  }();
  Check(status);
}

}  // namespace

void BindTensorFiles(nb::module_& module) {
  module.def("write_tensors", &WriteTensors, nb::arg("path"), nb::arg("tensors"), nb::arg("metadata"),
             "Writes (name, element type, dimensions, buffer) of each tensor to a safetensors file.");
  module.def("read_tensors", &ReadTensors, nb::arg("path"),
             "(name, element type, dimensions, bytes) of each tensor, steps or -1, and the path that was read.");
  module.def(
      "write_file",
      [](const std::string& path, nb::bytes bytes) {
        Check(artifact::WriteFileAtomically(path, {bytes.c_str(), bytes.size()}));
      },
      nb::arg("path"), nb::arg("bytes"), "Writes a file that is complete or untouched.");
  module.def("save_checkpoint", &SaveCheckpoint, nb::arg("directory"), nb::arg("tensors"), nb::arg("step"),
             nb::arg("program"), nb::arg("seed"), "Writes DIRECTORY/step-N.");
}

}  // namespace sgd::python
