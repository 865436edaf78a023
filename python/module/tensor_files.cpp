// Files of tensors and checkpoints, as the runtime reads and writes them.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
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

// Copies a buffer into the part of `target` behind `filled`, which grows by its bytes.
void Append(nb::handle owner, const std::string& name, std::span<std::byte> target, size_t& filled) {
  const Buffer buffer(owner, Buffer::Access::kRead);
  const std::span<const std::byte> bytes = buffer.bytes();
  if (bytes.size() > target.size() - filled)
    Throw(absl::InvalidArgumentError(
        absl::StrCat(name, ": at least ", filled + bytes.size(), " bytes; expected ", target.size())));
  const nb::gil_scoped_release unlocked;
  std::ranges::copy(bytes, target.begin() + filled);
  filled += bytes.size();
}

// (name, element type, dimensions, bytes) of each tensor. The bytes are a buffer, or a function whose result iterates
// over buffers that follow one another: a tensor that is read while it is written.
struct GivenTensors {
  std::vector<data::TensorSpec> specs;
  std::map<std::string, nb::object> bytes;

  explicit GivenTensors(nb::list tensors) {
    for (nb::handle tensor : tensors) {
      const nb::tuple fields = nb::cast<nb::tuple>(tensor);
      const auto name = nb::cast<std::string>(fields[0]), element = nb::cast<std::string>(fields[1]);
      const std::optional<data::ElementType> type = artifact::ElementFromName(element);
      if (!type) Throw(absl::InvalidArgumentError(absl::StrCat(name, ": there is no element type '", element, "'")));
      specs.push_back({name, *type, nb::cast<std::vector<uint64_t>>(fields[2])});
      bytes[name] = nb::borrow(fields[3]);
    }
  }
  void CopyTo(data::TensorFileWriter& writer) const {
    for (size_t i = 0; i < writer.specs().size(); ++i) {
      const std::string& name = writer.specs()[i].name;
      const std::span<std::byte> target = writer.Bytes(i);
      const nb::object& given = bytes.at(name);
      size_t filled = 0;
      if (PyCallable_Check(given.ptr()) != 0) {
        const nb::object pieces = given();
        for (nb::handle piece : nb::iter(pieces)) Append(piece, name, target, filled);
      } else {
        Append(given, name, target, filled);
      }
      if (filled != target.size())
        Throw(absl::InvalidArgumentError(absl::StrCat(name, ": ", filled, " bytes; expected ", target.size())));
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

// The tensors of a safetensors file, a checkpoint, or the newest whole one of a folder, which are read one at a time.
class TensorFile {
 public:
  static std::unique_ptr<TensorFile> Open(const std::string& path) {
    absl::StatusOr<std::unique_ptr<TensorFile>> opened;
    {
      const nb::gil_scoped_release unlocked;
      opened = OpenUnlocked(path);
    }
    return Take(std::move(opened));
  }
  TensorFile(data::SafetensorsFile file, int64_t steps, std::string path)
      : file_(std::move(file)), steps_(steps), path_(std::move(path)) {}

  // (name, element type, dimensions) of each.
  nb::list Tensors() const {
    nb::list all;
    for (const data::TensorEntry& entry : file_.tensors())
      all.append(nb::make_tuple(entry.name, artifact::ElementName(entry.element), entry.dims));
    return all;
  }
  void Read(const std::string& name, nb::handle buffer) const {
    const data::TensorEntry* entry = file_.Find(name);
    if (entry == nullptr) Throw(absl::NotFoundError(absl::StrCat(path_, ": there is no tensor '", name, "'")));
    const Buffer target(buffer, Buffer::Access::kWrite);
    if (target.bytes().size() != entry->size)
      Throw(absl::InvalidArgumentError(
          absl::StrCat(name, ": ", target.bytes().size(), " bytes of memory; expected ", entry->size)));
    absl::Status status;
    {
      const nb::gil_scoped_release unlocked;
      const std::lock_guard lock(mutex_);
      status = file_.Read(*entry, 0, target.bytes());
    }
    Check(status);
  }
  int64_t steps() const { return steps_; }
  const std::string& path() const { return path_; }

 private:
  static absl::StatusOr<std::unique_ptr<TensorFile>> OpenUnlocked(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      absl::StatusOr<data::SafetensorsFile> file = data::SafetensorsFile::Open(path);
      if (!file.ok()) return file.status();
      return std::make_unique<TensorFile>(*std::move(file), -1, path);
    }
    absl::StatusOr<checkpoint::Checkpoint> opened = checkpoint::OpenCheckpoint(path);
    if (!opened.ok()) return opened.status();
    return std::make_unique<TensorFile>(std::move(opened->state), static_cast<int64_t>(opened->point.step),
                                        opened->path);
  }

  const data::SafetensorsFile file_;
  const int64_t steps_;
  const std::string path_;
  mutable std::mutex mutex_;  // of reads
};

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
  module.def(
      "write_tensors", &WriteTensors, nb::arg("path"), nb::arg("tensors"), nb::arg("metadata"),
      "Writes (name, element type, dimensions, buffer or function of buffers) of each tensor to a safetensors file.");
  nb::class_<TensorFile>(module, "TensorFile", "Tensors of a file or a checkpoint, which are read one at a time.")
      .def_static("open", &TensorFile::Open, nb::arg("path"),
                  "A safetensors file, a checkpoint, or the newest whole one of a folder, verified.")
      .def_prop_ro("tensors", &TensorFile::Tensors, "(name, element type, dimensions) of each.")
      .def_prop_ro("steps", &TensorFile::steps, "Steps that the checkpoint is after; -1 of a file of tensors.")
      .def_prop_ro("path", &TensorFile::path, "The path that was opened.")
      .def("read", &TensorFile::Read, nb::arg("name"), nb::arg("buffer"), "Reads a tensor into a buffer of its size.");
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
