// The data sets that --data names: sources of rows, with weights where there are several.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/mixture.h"
#include "runtime/data/row_source.h"

namespace sgd::data {

struct DataSource {
  std::string name;  // of messages and logs
  std::unique_ptr<const RowSource> rows;
  WeightSchedule weight{{0, 1.0}};
};

struct DataSet {
  std::string name;  // of messages: a file, or the first one of several and how many more there are
  std::vector<DataSource> sources;
  std::vector<std::string> notes;  // worth telling, not errors
};

// Opens files, folders and globs (see ListFiles), some of them with commas between them, as one source; or the one
// description *.json (see data_set_json.h). Reads headers, and lists of documents. Errors are one line that begins with
// the path.
absl::StatusOr<std::shared_ptr<const DataSet>> OpenDataSet(const std::vector<std::string>& arguments);

}  // namespace sgd::data
