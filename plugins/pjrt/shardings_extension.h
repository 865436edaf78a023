// The extension of the C API that returns shardings: its layout, which the header of the C API does not have.
#pragma once

#include "third_party/pjrt/pjrt_c_api.h"

namespace sgd::pjrt {

// Arguments of both functions of the extension.
struct ShardingsArgs {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  size_t count;                  // out: of parameters or outputs
  const char* const* shardings;  // out: serialized xla.OpSharding; the executable owns them
  const size_t* sizes;           // out
};

// Type PJRT_Extension_Type_Shardings.
struct ShardingsExtension {
  PJRT_Extension_Base base;
  PJRT_Error* (*parameters)(ShardingsArgs* args);
  PJRT_Error* (*outputs)(ShardingsArgs* args);
};

// Lives as long as the process.
PJRT_Extension_Base* GetShardingsExtension();

}  // namespace sgd::pjrt
