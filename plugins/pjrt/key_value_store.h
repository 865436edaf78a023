// The store of keys and values that JAX's coordinator keeps for the processes of a program, behind the callbacks that a
// client is created with.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plugins/pjrt/errors.h"

namespace sgd::pjrt {

// Any thread. What the callbacks are called with lives as long as the client, as the C API says.
class KeyValueStore {
 public:
  explicit KeyValueStore(const PJRT_Client_Create_Args& args)
      : get_(args.kv_get_callback),
        get_user_arg_(args.kv_get_user_arg),
        put_(args.kv_put_callback),
        put_user_arg_(args.kv_put_user_arg) {}

  bool is_there() const { return get_ != nullptr && put_ != nullptr; }
  // A key is put once.
  absl::Status Put(std::string_view key, std::string_view value) const;
  // Waits until somebody has put the key. DeadlineExceeded when nobody has.
  absl::StatusOr<std::string> Get(std::string_view key, absl::Duration timeout) const;

 private:
  PJRT_KeyValueGetCallback get_;
  void* get_user_arg_;
  PJRT_KeyValuePutCallback put_;
  void* put_user_arg_;
};

}  // namespace sgd::pjrt
