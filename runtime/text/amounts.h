// Sizes, times and counts as all messages, reports and tables show them.
#pragma once

#include <cstdint>
#include <string>

namespace sgd::text {

// "1023 B", "48.00 KiB", "1.50 GiB".
std::string BytesText(uint64_t bytes);

// "14.8 us", "2.57 ms", "1.2 s", "2.5 h": three significant digits, of seconds four.
std::string SecondsText(double seconds);

// "950", "6.4k", "1.2M", "3.07G": counts and rates, in three significant digits.
std::string CountText(double count);

}  // namespace sgd::text
