// Toy artifacts with records.
#pragma once

#include <string>

#include "runtime/artifact/bundle.h"
#include "runtime/page/page.h"
#include "runtime/page/records.h"
#include "tests/runtime/data/tensor_files.h"
#include "tests/tools/toy_artifact.h"

namespace sgd::page {

// Records as sgdc writes them, in as far as tests look at them.
inline nlohmann::json ToyRecords(double sent_bytes, const std::string& name) {
  return {
      {"report",
       {{"program", "train"},
        {"sent_bytes", sent_bytes},
        {"estimated_seconds", 1e-3},
        {"memory", {{"peak", 4096}}},
        {"collectives", nlohmann::json::array({{{"kind", "all_reduce"}}})}}},
      {"groups",
       nlohmann::json::array(
           {{{"program", "train"}, {"op", "all_reduce"}, {"name", name}, {"axes", {"data"}}, {"bytes", sent_bytes}}})}};
}

// Written to `path`, and all plans of the file there.
inline Plans ToyPlans(const std::string& path, const ToyOptions& options) {
  WriteToyArtifact(path, options);
  Plans plans;
  auto file = artifact::ArtifactFile::Open(path);
  if (file.ok()) plans.push_back(*std::move(file));
  return plans;
}

inline ToyOptions WithRecords(const nlohmann::json& records, uint32_t ranks = 2) {
  return {.ranks = ranks, .records = PackRecords(records.dump())};
}

}  // namespace sgd::page
