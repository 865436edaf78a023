// The extension of the C API that returns layouts: its layout, which the header of the C API does not have. All arrays
// are row-major.
#pragma once

#include <string>

#include "third_party/pjrt/pjrt_c_api.h"

struct PJRT_Layouts_MemoryLayout {
  std::string text;  // as XLA writes layouts, the fastest dimension first: `{1,0}`
};

namespace sgd::pjrt {

struct LayoutDestroyArgs {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Layouts_MemoryLayout* layout;
};

struct LayoutSerializeArgs {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Layouts_MemoryLayout* layout;
  const char* bytes;                  // out
  size_t size;                        // out
  void* serialized;                   // out: owned by the caller
  void (*deleter)(void* serialized);  // out
};

struct DefaultLayoutArgs {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  void* owner;  // a client, or a topology
  PJRT_Buffer_Type type;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Layouts_MemoryLayout* layout;  // out: owned by the caller
};

struct BufferLayoutArgs {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Buffer* buffer;
  PJRT_Layouts_MemoryLayout* layout;  // out: owned by the caller
};

struct ExecutableLayoutsArgs {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  PJRT_Executable* executable;
  size_t count;                               // out
  PJRT_Layouts_MemoryLayout* const* layouts;  // out: the executable owns them
};

// Type PJRT_Extension_Type_Layouts.
struct LayoutsExtension {
  PJRT_Extension_Base base;
  PJRT_Error* (*destroy)(LayoutDestroyArgs* args);
  PJRT_Error* (*serialize)(LayoutSerializeArgs* args);
  PJRT_Error* (*client_default)(DefaultLayoutArgs* args);
  PJRT_Error* (*buffer)(BufferLayoutArgs* args);
  PJRT_Error* (*topology_default)(DefaultLayoutArgs* args);
  PJRT_Error* (*outputs)(ExecutableLayoutsArgs* args);
  PJRT_Error* (*parameters)(ExecutableLayoutsArgs* args);
};

// Lives as long as the process. `next` is the extension behind it.
PJRT_Extension_Base* GetLayoutsExtension(PJRT_Extension_Base* next);

}  // namespace sgd::pjrt
