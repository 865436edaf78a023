// Errors of the callbacks are made by a function of the plugin.
#include "plugins/pjrt/key_value_store.h"

#include <memory>

namespace sgd::pjrt {
namespace {

PJRT_CallbackError& MakeError() {
  static PJRT_CallbackError make = [](PJRT_Error_Code code, const char* message, size_t size) {
    return new PJRT_Error{StatusOf(code, message, size)};
  };
  return make;
}

absl::Status Take(PJRT_Error* error) {
  const std::unique_ptr<PJRT_Error> owned(error);
  return owned == nullptr ? absl::OkStatus() : owned->status;
}

}  // namespace

absl::Status KeyValueStore::Put(std::string_view key, std::string_view value) const {
  PJRT_KeyValuePutCallback_Args args = {};
  args.struct_size = PJRT_KeyValuePutCallback_Args_STRUCT_SIZE;
  args.key = key.data();
  args.key_size = key.size();
  args.value = value.data();
  args.value_size = value.size();
  args.callback_error = &MakeError();
  args.user_arg = put_user_arg_;
  return Take(put_(&args));
}

absl::StatusOr<std::string> KeyValueStore::Get(std::string_view key, absl::Duration timeout) const {
  PJRT_KeyValueGetCallback_Args args = {};
  args.struct_size = PJRT_KeyValueGetCallback_Args_STRUCT_SIZE;
  args.key = key.data();
  args.key_size = key.size();
  args.timeout_in_ms = static_cast<int>(absl::ToInt64Milliseconds(timeout));
  args.callback_error = &MakeError();
  args.user_arg = get_user_arg_;
  if (absl::Status status = Take(get_(&args)); !status.ok()) return status;
  std::string value(args.value, args.value_size);
  args.value_deleter_callback(args.value);
  return value;
}

}  // namespace sgd::pjrt
