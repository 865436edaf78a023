// Flags of one group of the help, added one after another, and checks of their values. For sources that
// sgd_command_line compiles, with exceptions.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tools/sgdrun/options.h"

namespace sgd::sgdrun {

inline absl::Duration Positive(const char* flag, double seconds) {
  // Also keeps out what is not a number.
  if (!(seconds > 0 && seconds <= 1e9)) throw CLI::ValidationError(flag, "is out of range; expected 0 to 1e9 seconds");
  return absl::Seconds(seconds);
}

// Counts of steps: sums of a few of them fit in 64 bits.
inline constexpr uint64_t kMostSteps = uint64_t{1} << 53;

// CLI11's own check of positive numbers names the largest double in its message.
template <typename Number>
std::string CheckCount(const std::string& text) {
  constexpr uint64_t kMost = std::min<uint64_t>(std::numeric_limits<Number>::max(), kMostSteps);
  Number count = 0;
  if (absl::SimpleAtoi(text, &count) && count > 0 && count <= kMost) return "";
  return absl::StrCat("'", text, "' is out of range; expected an integer from 1 to ", kMost);
}

class Group {
 public:
  Group(CLI::App& app, const char* name) : app_(app), name_(name) {}

  // `value` is the text behind the flag in the help; `target` is a variable, or a function of the value.
  template <typename Target>
  CLI::Option* Add(const char* flag, const char* value, Target&& target, const char* help) const {
    return app_.add_option(flag, target, help)->group(name_)->option_text(value);
  }
  template <typename Value>
  CLI::Option* Call(const char* flag, const char* value, std::function<void(const Value&)> function,
                    const char* help) const {
    return app_.add_option_function<Value>(flag, std::move(function), help)->group(name_)->option_text(value);
  }
  // A list with commas. An argument behind it is not its own.
  CLI::Option* CallWithList(const char* flag, const char* value,
                            std::function<void(const std::vector<std::string>&)> function, const char* help) const {
    return Call<std::vector<std::string>>(flag, value, std::move(function), help)
        ->delimiter(',')
        ->expected(1, -1)
        ->allow_extra_args(false);
  }
  void AddSwitch(const char* flag, bool& target, const char* help) const {
    app_.add_flag(flag, target, help)->group(name_);
  }
  // A flag whose value may be left out; `flag` has it, as in "--guard{100}".
  template <typename Number>
  CLI::Option* AddWithDefault(const char* flag, const char* value, Number& target, const char* help) const {
    return app_.add_flag(flag, target, help)->group(name_)->option_text(value);
  }

 private:
  CLI::App& app_;
  const char* name_;
};

void AddTrainingFlags(CLI::App& app, Options& options);
void AddRankFlags(CLI::App& app, Options& options);

}  // namespace sgd::sgdrun
