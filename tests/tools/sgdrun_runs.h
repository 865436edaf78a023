// Runs of sgdrun on toy artifacts and files of counted numbers, as tests of it make them.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/tools/command.h"
#include "tests/tools/toy_artifact.h"

namespace sgd {

class Sgdrun : public ::testing::Test {
 protected:
  CommandResult Run(std::vector<std::string> arguments, const std::string& environment = "") {
    return RunCommand(SGDRUN, arguments, environment);
  }
  // Runs and demands success.
  CommandResult MustRun(std::vector<std::string> arguments) {
    CommandResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return result;
  }

  std::string Artifact(ToyOptions options) {
    const std::string path = folder_ / ("toy" + std::to_string(++count_) + ".sgda");
    WriteToyArtifact(path, options);
    return path;
  }

  // f32 tensors whose elements are `base`, `base` + 1, ...
  std::string Tensors(const std::string& name, const std::vector<std::pair<std::string, data::Dims>>& tensors,
                      float base = 0) {
    std::vector<data::TensorSpec> specs;
    for (const auto& [tensor, dims] : tensors) specs.push_back({tensor, data::ElementType::F32, dims});
    auto writer = data::TensorFileWriter::Create(folder_ / name, specs);
    EXPECT_TRUE(writer.ok()) << writer.status();
    for (size_t i = 0; i < specs.size(); ++i) {
      std::vector<float> values(writer->Bytes(i).size() / 4);
      for (size_t k = 0; k < values.size(); ++k) values[k] = base + static_cast<float>(k);
      data::WriteTensor(*writer, i, values.data());
    }
    EXPECT_TRUE(writer->Commit().ok());
    return folder_ / name;
  }

  std::vector<nlohmann::json> Log(const std::string& name) {
    std::vector<nlohmann::json> lines;
    std::ifstream file(folder_ / name);
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
  std::vector<float> Floats(const std::string& path, const std::string& name) {
    auto file = data::SafetensorsFile::Open(path);
    EXPECT_TRUE(file.ok()) << file.status();
    const data::TensorEntry* entry = file.ok() ? file->Find(name) : nullptr;
    EXPECT_NE(entry, nullptr) << name;
    return entry == nullptr ? std::vector<float>() : data::Values<float>(file->Bytes(*entry));
  }

  // The lines of a text that begin with `label`.
  static std::vector<std::string> Lines(const std::string& text, const std::string& label) {
    std::vector<std::string> lines;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with(label)) lines.push_back(line);
    }
    return lines;
  }
  // The steps with what they have given, without rates, which vary.
  static std::vector<std::string> Steps(const std::string& text) {
    std::vector<std::string> steps = Lines(text, "step ");
    for (std::string& step : steps) {
      const size_t rate = step.find(" rows/s");
      if (rate == std::string::npos) continue;
      step.resize(step.rfind("  ", rate));
      step.resize(step.find_last_not_of(' ') + 1);
    }
    return steps;
  }

  data::TemporaryFolder folder_;
  int count_ = 0;
};

}  // namespace sgd
