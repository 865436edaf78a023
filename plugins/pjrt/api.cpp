// The table of the C API. Every entry is set: those without a function behind them return an error.
#include "plugins/pjrt/buffer.h"
#include "plugins/pjrt/client.h"
#include "plugins/pjrt/event.h"
#include "plugins/pjrt/executable.h"
#include "plugins/pjrt/layouts_extension.h"
#include "plugins/pjrt/shardings_extension.h"

// Options of executions by their context, and names of what runs, for tracing: nothing is in them.
struct PJRT_ExecuteContext {};
struct PJRT_AsyncTrackingEvent {};

namespace sgd::pjrt {
namespace {

void DestroyError(PJRT_Error_Destroy_Args* args) { delete args->error; }

void GetMessage(PJRT_Error_Message_Args* args) {
  args->message = args->error->status.message().data();
  args->message_size = args->error->status.message().size();
}

PJRT_Error* GetCode(PJRT_Error_GetCode_Args* args) {
  args->code = static_cast<PJRT_Error_Code>(args->error->status.code());
  return nullptr;
}

// Errors have no payload.
PJRT_Error* VisitPayload(PJRT_Error_ForEachPayload_Args*) { return nullptr; }

absl::Status CreateContext(PJRT_ExecuteContext_Create_Args& args) {
  args.context = new PJRT_ExecuteContext();
  return absl::OkStatus();
}

absl::Status DestroyContext(PJRT_ExecuteContext_Destroy_Args& args) {
  delete args.context;
  return absl::OkStatus();
}

absl::Status CreateTracking(PJRT_Device_CreateAsyncTrackingEvent_Args& args) {
  args.event = new PJRT_AsyncTrackingEvent();
  return absl::OkStatus();
}

absl::Status DestroyTracking(PJRT_AsyncTrackingEvent_Destroy_Args& args) {
  delete args.event;
  return absl::OkStatus();
}

void AddMissing(PJRT_Api& api) {
  api.PJRT_Device_MemoryStats = Missing<"PJRT_Device_MemoryStats">::Call;
  api.PJRT_CopyToDeviceStream_Destroy = Missing<"PJRT_CopyToDeviceStream_Destroy">::Call;
  api.PJRT_CopyToDeviceStream_AddChunk = Missing<"PJRT_CopyToDeviceStream_AddChunk">::Call;
  api.PJRT_CopyToDeviceStream_TotalBytes = Missing<"PJRT_CopyToDeviceStream_TotalBytes">::Call;
  api.PJRT_CopyToDeviceStream_GranuleSize = Missing<"PJRT_CopyToDeviceStream_GranuleSize">::Call;
  api.PJRT_CopyToDeviceStream_CurrentBytes = Missing<"PJRT_CopyToDeviceStream_CurrentBytes">::Call;
  api.PJRT_TopologyDescription_Serialize = Missing<"PJRT_TopologyDescription_Serialize">::Call;
  api.PJRT_Compile = Missing<"PJRT_Compile">::Call;
  api.PJRT_AsyncHostToDeviceTransferManager_Destroy = Missing<"PJRT_AsyncHostToDeviceTransferManager_Destroy">::Call;
  api.PJRT_AsyncHostToDeviceTransferManager_TransferData =
      Missing<"PJRT_AsyncHostToDeviceTransferManager_TransferData">::Call;
  api.PJRT_Client_CreateBuffersForAsyncHostToDevice = Missing<"PJRT_Client_CreateBuffersForAsyncHostToDevice">::Call;
  api.PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer =
      Missing<"PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer">::Call;
  api.PJRT_AsyncHostToDeviceTransferManager_Device = Missing<"PJRT_AsyncHostToDeviceTransferManager_Device">::Call;
  api.PJRT_AsyncHostToDeviceTransferManager_BufferCount =
      Missing<"PJRT_AsyncHostToDeviceTransferManager_BufferCount">::Call;
  api.PJRT_AsyncHostToDeviceTransferManager_BufferSize =
      Missing<"PJRT_AsyncHostToDeviceTransferManager_BufferSize">::Call;
  api.PJRT_AsyncHostToDeviceTransferManager_SetBufferError =
      Missing<"PJRT_AsyncHostToDeviceTransferManager_SetBufferError">::Call;
  api.PJRT_AsyncHostToDeviceTransferManager_AddMetadata =
      Missing<"PJRT_AsyncHostToDeviceTransferManager_AddMetadata">::Call;
  api.PJRT_Client_DmaMap = Missing<"PJRT_Client_DmaMap">::Call;
  api.PJRT_Client_DmaUnmap = Missing<"PJRT_Client_DmaUnmap">::Call;
  api.PJRT_TopologyDescription_Deserialize = Missing<"PJRT_TopologyDescription_Deserialize">::Call;
  api.PJRT_Client_CreateAliasBuffer = Missing<"PJRT_Client_CreateAliasBuffer">::Call;
  api.PJRT_Client_FulfillAliasBuffer = Missing<"PJRT_Client_FulfillAliasBuffer">::Call;
  api.PJRT_AsyncHostToDeviceTransferManager_TransferLiteral =
      Missing<"PJRT_AsyncHostToDeviceTransferManager_TransferLiteral">::Call;
  api.PJRT_Buffer_CopyRawToHostFuture = Missing<"PJRT_Buffer_CopyRawToHostFuture">::Call;
  api.PJRT_Device_PoisonExecution = Missing<"PJRT_Device_PoisonExecution">::Call;
  api.PJRT_Buffer_DonateWithControlDependency = Missing<"PJRT_Buffer_DonateWithControlDependency">::Call;
  api.PJRT_TopologyDescription_Fingerprint = Missing<"PJRT_TopologyDescription_Fingerprint">::Call;
}

PJRT_Api CreateApi() {
  PJRT_Api api = {};
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.extension_start = GetLayoutsExtension(GetShardingsExtension());
  api.pjrt_api_version = {PJRT_Api_Version_STRUCT_SIZE, nullptr, PJRT_API_MAJOR, PJRT_API_MINOR};
  AddMissing(api);
  api.PJRT_Error_Destroy = DestroyError;
  api.PJRT_Error_Message = GetMessage;
  api.PJRT_Error_GetCode = GetCode;
  api.PJRT_Error_ForEachPayload = VisitPayload;
  api.PJRT_Event_Destroy = Entry<DestroyEvent>::Call;
  api.PJRT_Event_IsReady = Entry<IsEventReady>::Call;
  api.PJRT_Event_Error = Entry<GetEventError>::Call;
  api.PJRT_Event_Await = Entry<AwaitEvent>::Call;
  api.PJRT_Event_OnReady = Entry<OnEventReady>::Call;
  api.PJRT_Event_Create = Entry<CreateEvent>::Call;
  api.PJRT_Event_Set = Entry<SetEvent>::Call;
  api.PJRT_ExecuteContext_Create = Entry<CreateContext>::Call;
  api.PJRT_ExecuteContext_Destroy = Entry<DestroyContext>::Call;
  api.PJRT_Device_CreateAsyncTrackingEvent = Entry<CreateTracking>::Call;
  api.PJRT_AsyncTrackingEvent_Destroy = Entry<DestroyTracking>::Call;
  AddClientEntries(api);
  AddBufferEntries(api);
  AddExecutableEntries(api);
  return api;
}

}  // namespace
}  // namespace sgd::pjrt

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api api = sgd::pjrt::CreateApi();
  return &api;
}
