// Buffers: made of host arrays, read, copied, pinned and deleted.
#include "plugins/pjrt/buffer.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugins/pjrt/element_type.h"
#include "plugins/pjrt/event.h"
#include "plugins/pjrt/strided_copy.h"

namespace sgd::pjrt {
namespace {

using Lock = std::lock_guard<std::recursive_mutex>;

std::recursive_mutex& MutexOf(const PJRT_Buffer& buffer) { return buffer.memory->device->client->ranks->mutex; }

// A new buffer over bytes of its own.
absl::StatusOr<std::unique_ptr<PJRT_Buffer>> Allocate(PJRT_Memory* memory, PJRT_Buffer_Type type, const int64_t* dims,
                                                      size_t num_dims) {
  absl::StatusOr<size_t> bytes = ArrayBytes(type, dims, num_dims);
  if (!bytes.ok()) return bytes.status();
  auto storage = Storage::Allocate(*bytes);
  if (!storage.ok()) return storage.status();
  return CreateBuffer(memory, type, {dims, dims + num_dims}, *std::move(storage));
}

absl::StatusOr<PJRT_Memory*> MemoryOf(PJRT_Device* device, PJRT_Memory* memory) {
  if (memory == nullptr && device == nullptr)
    return absl::InvalidArgumentError("a buffer needs a device or a memory, and has neither");
  if (memory == nullptr) memory = device->memory_pointers[0];
  if (absl::Status status = CheckAddressable(*memory->device); !status.ok()) return status;
  return memory;
}

// The strides of a host array that a layout describes; row-major without one.
absl::StatusOr<std::vector<int64_t>> HostStrides(const PJRT_Buffer_MemoryLayout* layout, std::span<const int64_t> dims,
                                                 size_t element_bytes) {
  if (layout == nullptr) return RowMajorStrides(dims, element_bytes);
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    const auto& strides = layout->strides;
    if (strides.num_byte_strides != dims.size())
      return absl::InvalidArgumentError("a layout has another number of strides than the array has dimensions");
    return std::vector<int64_t>(strides.byte_strides, strides.byte_strides + strides.num_byte_strides);
  }
  const auto& tiled = layout->tiled;
  if (tiled.num_tiles != 0 || tiled.minor_to_major_size != dims.size())
    return absl::UnimplementedError("host arrays in tiles are not supported by the sgd plugin");
  return StridesOf(dims, {tiled.minor_to_major, tiled.minor_to_major_size}, element_bytes);
}

absl::Status FromHost(PJRT_Client_BufferFromHostBuffer_Args& args) {
  absl::StatusOr<PJRT_Memory*> memory = MemoryOf(args.device, args.memory);
  if (!memory.ok()) return memory.status();
  auto buffer = Allocate(*memory, args.type, args.dims, args.num_dims);
  if (!buffer.ok()) return buffer.status();
  const std::span<const int64_t> dims = (*buffer)->dims;
  const std::span<std::byte> bytes = (*buffer)->storage->bytes();
  const size_t element = *ElementBytes(args.type);
  const std::vector<int64_t> dense = RowMajorStrides(dims, element);
  std::vector<int64_t> source = dense;
  if (args.byte_strides != nullptr && args.num_byte_strides == dims.size())
    source.assign(args.byte_strides, args.byte_strides + args.num_byte_strides);
  if (!bytes.empty()) CopyStrided(dims, element, static_cast<const std::byte*>(args.data), source, bytes.data(), dense);
  args.done_with_host_buffer = ReadyEvent();
  args.buffer = buffer->release();
  return absl::OkStatus();
}

absl::Status CreateUninitialized(PJRT_Client_CreateUninitializedBuffer_Args& args) {
  absl::StatusOr<PJRT_Memory*> memory = MemoryOf(args.device, args.memory);
  if (!memory.ok()) return memory.status();
  auto buffer = Allocate(*memory, args.shape_element_type, args.shape_dims, args.shape_num_dims);
  if (!buffer.ok()) return buffer.status();
  const std::span<std::byte> bytes = (*buffer)->storage->bytes();
  std::memset(bytes.data(), 0, bytes.size());
  args.buffer = buffer->release();
  return absl::OkStatus();
}

absl::Status CreateError(PJRT_Client_CreateErrorBuffer_Args& args) {
  absl::StatusOr<PJRT_Memory*> memory = MemoryOf(nullptr, args.memory);
  if (!memory.ok()) return memory.status();
  auto buffer =
      CreateBuffer(*memory, args.shape_element_type, {args.shape_dims, args.shape_dims + args.shape_num_dims}, nullptr);
  buffer->error = StatusOf(args.error_code, args.error_message, args.error_message_size);
  args.buffer = buffer.release();
  return absl::OkStatus();
}

// Of memory that another library owns: copies it, and gives it back at once.
absl::Status CreateView(PJRT_Client_CreateViewOfDeviceBuffer_Args& args) {
  absl::StatusOr<PJRT_Memory*> memory = MemoryOf(args.device, args.memory);
  if (!memory.ok()) return memory.status();
  auto buffer = Allocate(*memory, args.element_type, args.dims, args.num_dims);
  if (!buffer.ok()) return buffer.status();
  const std::span<const int64_t> dims = (*buffer)->dims;
  const size_t element = *ElementBytes(args.element_type);
  absl::StatusOr<std::vector<int64_t>> strides = HostStrides(args.layout, dims, element);
  if (!strides.ok()) return strides.status();
  const std::span<std::byte> bytes = (*buffer)->storage->bytes();
  if (!bytes.empty())
    CopyStrided(dims, element, static_cast<const std::byte*>(args.device_buffer_ptr), *strides, bytes.data(),
                RowMajorStrides(dims, element));
  if (args.on_delete_callback != nullptr) args.on_delete_callback(args.device_buffer_ptr, args.on_delete_callback_arg);
  args.buffer = buffer->release();
  return absl::OkStatus();
}

absl::Status DestroyBuffer(PJRT_Buffer_Destroy_Args& args) {
  if (args.buffer == nullptr) return absl::OkStatus();
  const std::shared_ptr<RankPools> ranks = args.buffer->memory->device->client->ranks;
  const Lock lock(ranks->mutex);
  delete args.buffer;
  return absl::OkStatus();
}

absl::Status GetElementType(PJRT_Buffer_ElementType_Args& args) {
  args.type = args.buffer->type;
  return absl::OkStatus();
}

absl::Status GetDimensions(PJRT_Buffer_Dimensions_Args& args) {
  args.dims = args.buffer->dims.data();
  args.num_dims = args.buffer->dims.size();
  return absl::OkStatus();
}

absl::Status GetUnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args& args) {
  args.unpadded_dims = args.buffer->dims.data();
  args.num_dims = args.buffer->dims.size();
  return absl::OkStatus();
}

absl::Status GetDynamicDimensions(PJRT_Buffer_DynamicDimensionIndices_Args& args) {
  args.dynamic_dim_indices = nullptr;
  args.num_dynamic_dims = 0;
  return absl::OkStatus();
}

absl::Status GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args& args) {
  args.layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  args.layout.tiled = {};
  args.layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  args.layout.tiled.minor_to_major = args.buffer->minor_to_major.data();
  args.layout.tiled.minor_to_major_size = args.buffer->minor_to_major.size();
  return absl::OkStatus();
}

absl::Status GetSize(PJRT_Buffer_OnDeviceSizeInBytes_Args& args) {
  absl::StatusOr<size_t> bytes = ArrayBytes(args.buffer->type, args.buffer->dims.data(), args.buffer->dims.size());
  if (!bytes.ok()) return bytes.status();
  args.on_device_size_in_bytes = *bytes;
  return absl::OkStatus();
}

absl::Status GetDevice(PJRT_Buffer_Device_Args& args) {
  args.device = args.buffer->memory->device;
  return absl::OkStatus();
}

absl::Status GetMemory(PJRT_Buffer_Memory_Args& args) {
  args.memory = args.buffer->memory;
  return absl::OkStatus();
}

absl::Status DeleteBuffer(PJRT_Buffer_Delete_Args& args) {
  const Lock lock(MutexOf(*args.buffer));
  args.buffer->storage = nullptr;
  args.buffer->error = absl::OkStatus();
  return absl::OkStatus();
}

absl::Status IsBufferDeleted(PJRT_Buffer_IsDeleted_Args& args) {
  const Lock lock(MutexOf(*args.buffer));
  args.is_deleted = args.buffer->storage == nullptr && args.buffer->error.ok();
  return absl::OkStatus();
}

// Devices and memories of a process share bytes, which nobody writes.
absl::StatusOr<PJRT_Buffer*> CopyTo(PJRT_Buffer& buffer, PJRT_Memory* memory) {
  const Lock lock(MutexOf(buffer));
  if (absl::Status status = CheckAlive(buffer); !status.ok()) return status;
  if (absl::Status status = CheckAddressable(*memory->device); !status.ok()) return status;
  return CreateBuffer(memory, buffer.type, buffer.dims, buffer.storage).release();
}

absl::Status CopyToDevice(PJRT_Buffer_CopyToDevice_Args& args) {
  absl::StatusOr<PJRT_Buffer*> copy = CopyTo(*args.buffer, args.dst_device->memory_pointers[0]);
  if (copy.ok()) args.dst_buffer = *copy;
  return copy.status();
}

absl::Status CopyToMemory(PJRT_Buffer_CopyToMemory_Args& args) {
  absl::StatusOr<PJRT_Buffer*> copy = CopyTo(*args.buffer, args.dst_memory);
  if (copy.ok()) args.dst_buffer = *copy;
  return copy.status();
}

absl::Status ToHost(PJRT_Buffer_ToHostBuffer_Args& args) {
  const Lock lock(MutexOf(*args.src));
  if (absl::Status status = CheckAlive(*args.src); !status.ok()) return status;
  if (args.dst == nullptr) {
    args.dst_size = args.src->storage->size();
    return absl::OkStatus();
  }
  const absl::StatusOr<std::span<const std::byte>> read = args.src->storage->HostBytes();
  if (!read.ok()) return read.status();
  const std::span<const std::byte> bytes = *read;
  if (args.dst_size < bytes.size())
    return absl::InvalidArgumentError(
        absl::StrCat("a buffer of ", bytes.size(), " bytes does not fit into ", args.dst_size, " bytes of the host"));
  const std::span<const int64_t> dims = args.src->dims;
  const size_t element = *ElementBytes(args.src->type);
  absl::StatusOr<std::vector<int64_t>> strides = HostStrides(args.host_layout, dims, element);
  if (!strides.ok()) return strides.status();
  if (!bytes.empty())
    CopyStrided(dims, element, bytes.data(), RowMajorStrides(dims, element), static_cast<std::byte*>(args.dst),
                *strides);
  args.event = ReadyEvent();
  return absl::OkStatus();
}

absl::Status CopyRaw(PJRT_Buffer& buffer, void* target, int64_t offset, int64_t size) {
  const Lock lock(MutexOf(buffer));
  if (absl::Status status = CheckAlive(buffer); !status.ok()) return status;
  const absl::StatusOr<std::span<const std::byte>> read = buffer.storage->HostBytes();
  if (!read.ok()) return read.status();
  const std::span<const std::byte> bytes = *read;
  const auto total = static_cast<int64_t>(bytes.size());
  if (offset < 0 || size < 0 || offset > total || size > total - offset)
    return absl::InvalidArgumentError(
        absl::StrCat("bytes ", offset, " to ", offset + size, " are not in a buffer of ", total, " bytes"));
  if (size > 0) std::memcpy(target, bytes.data() + offset, size);
  return absl::OkStatus();
}

absl::Status CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args& args) {
  if (absl::Status status = CopyRaw(*args.buffer, args.dst, args.offset, args.transfer_size); !status.ok())
    return status;
  args.event = ReadyEvent();
  return absl::OkStatus();
}

absl::Status IsOnCpu(PJRT_Buffer_IsOnCpu_Args& args) {
  args.is_on_cpu = args.buffer->memory->device->client->ranks->target().is_host_memory();
  return absl::OkStatus();
}

absl::Status GetReadyEvent(PJRT_Buffer_ReadyEvent_Args& args) {
  const Lock lock(MutexOf(*args.buffer));
  args.event = new PJRT_Event(args.buffer->error);
  return absl::OkStatus();
}

// The address of the bytes, which stay there as long as the buffer lives or is pinned.
absl::StatusOr<std::byte*> AddressOf(PJRT_Buffer& buffer) {
  const Lock lock(MutexOf(buffer));
  if (absl::Status status = CheckAlive(buffer); !status.ok()) return status;
  if (!buffer.memory->device->client->ranks->target().is_host_memory())
    return absl::UnimplementedError(
        "arrays on GPUs have no address for other libraries; expected an array of the host; "
        "copy it by numpy.asarray");
  if (absl::Status status = buffer.storage->Detach(); !status.ok()) return status;
  return absl::StatusOr<std::byte*>(buffer.storage->bytes().data());
}

absl::Status GetUnsafePointer(PJRT_Buffer_UnsafePointer_Args& args) {
  absl::StatusOr<std::byte*> address = AddressOf(*args.buffer);
  if (address.ok()) args.buffer_pointer = reinterpret_cast<uintptr_t>(*address);
  return address.status();
}

absl::Status GetOpaquePointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args& args) {
  absl::StatusOr<std::byte*> address = AddressOf(*args.buffer);
  if (address.ok()) args.device_memory_ptr = *address;
  return address.status();
}

absl::Status Pin(PJRT_Buffer_IncreaseExternalReferenceCount_Args& args) {
  if (absl::Status status = AddressOf(*args.buffer).status(); !status.ok()) return status;
  const Lock lock(MutexOf(*args.buffer));
  args.buffer->pinned = args.buffer->storage;
  ++args.buffer->pins;
  return absl::OkStatus();
}

absl::Status Unpin(PJRT_Buffer_DecreaseExternalReferenceCount_Args& args) {
  const Lock lock(MutexOf(*args.buffer));
  if (args.buffer->pins <= 0) return absl::FailedPreconditionError("the buffer has no external references");
  if (--args.buffer->pins == 0) args.buffer->pinned = nullptr;
  return absl::OkStatus();
}

absl::Status Bitcast(PJRT_Buffer_Bitcast_Args& args) {
  const Lock lock(MutexOf(*args.buffer));
  if (absl::Status status = CheckAlive(*args.buffer); !status.ok()) return status;
  absl::StatusOr<size_t> bytes = ArrayBytes(args.element_type, args.dims, args.num_dims);
  if (!bytes.ok()) return bytes.status();
  if (*bytes != args.buffer->storage->size())
    return absl::InvalidArgumentError("a bitcast changes the number of bytes");
  args.out_buffer =
      CreateBuffer(args.buffer->memory, args.element_type, {args.dims, args.dims + args.num_dims}, args.buffer->storage)
          .release();
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<PJRT_Buffer> CreateBuffer(PJRT_Memory* memory, PJRT_Buffer_Type type, std::vector<int64_t> dims,
                                          std::shared_ptr<Storage> storage) {
  auto buffer = std::make_unique<PJRT_Buffer>();
  buffer->memory = memory;
  buffer->type = type;
  for (size_t dim = dims.size(); dim-- > 0;) buffer->minor_to_major.push_back(static_cast<int64_t>(dim));
  buffer->dims = std::move(dims);
  buffer->storage = std::move(storage);
  return buffer;
}

absl::StatusOr<size_t> ArrayBytes(PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims) {
  const std::optional<size_t> element = ElementBytes(type);
  if (!element)
    return absl::UnimplementedError(absl::StrCat("buffers of PJRT's element type ", static_cast<int>(type),
                                                 " are not supported by the sgd plugin"));
  size_t bytes = *element;
  for (size_t dim = 0; dim < num_dims; ++dim) {
    if (dims[dim] < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(dims[dim]), &bytes))
      return absl::InvalidArgumentError("an array has a negative dimension, or more bytes than there can be");
  }
  return bytes;
}

absl::Status CheckAlive(const PJRT_Buffer& buffer) {
  if (!buffer.error.ok()) return buffer.error;
  if (buffer.storage == nullptr) return absl::InvalidArgumentError("the buffer has been deleted or donated");
  return absl::OkStatus();
}

void AddBufferEntries(PJRT_Api& api) {
  api.PJRT_Client_BufferFromHostBuffer = Entry<FromHost>::Call;
  api.PJRT_Client_CreateUninitializedBuffer = Entry<CreateUninitialized>::Call;
  api.PJRT_Client_CreateErrorBuffer = Entry<CreateError>::Call;
  api.PJRT_Client_CreateViewOfDeviceBuffer = Entry<CreateView>::Call;
  api.PJRT_Buffer_Destroy = Entry<DestroyBuffer>::Call;
  api.PJRT_Buffer_ElementType = Entry<GetElementType>::Call;
  api.PJRT_Buffer_Dimensions = Entry<GetDimensions>::Call;
  api.PJRT_Buffer_UnpaddedDimensions = Entry<GetUnpaddedDimensions>::Call;
  api.PJRT_Buffer_DynamicDimensionIndices = Entry<GetDynamicDimensions>::Call;
  api.PJRT_Buffer_GetMemoryLayout = Entry<GetMemoryLayout>::Call;
  api.PJRT_Buffer_OnDeviceSizeInBytes = Entry<GetSize>::Call;
  api.PJRT_Buffer_Device = Entry<GetDevice>::Call;
  api.PJRT_Buffer_Memory = Entry<GetMemory>::Call;
  api.PJRT_Buffer_Delete = Entry<DeleteBuffer>::Call;
  api.PJRT_Buffer_IsDeleted = Entry<IsBufferDeleted>::Call;
  api.PJRT_Buffer_CopyToDevice = Entry<CopyToDevice>::Call;
  api.PJRT_Buffer_CopyToMemory = Entry<CopyToMemory>::Call;
  api.PJRT_Buffer_ToHostBuffer = Entry<ToHost>::Call;
  api.PJRT_Buffer_CopyRawToHost = Entry<CopyRawToHost>::Call;
  api.PJRT_Buffer_IsOnCpu = Entry<IsOnCpu>::Call;
  api.PJRT_Buffer_ReadyEvent = Entry<GetReadyEvent>::Call;
  api.PJRT_Buffer_UnsafePointer = Entry<GetUnsafePointer>::Call;
  api.PJRT_Buffer_OpaqueDeviceMemoryDataPointer = Entry<GetOpaquePointer>::Call;
  api.PJRT_Buffer_IncreaseExternalReferenceCount = Entry<Pin>::Call;
  api.PJRT_Buffer_DecreaseExternalReferenceCount = Entry<Unpin>::Call;
  api.PJRT_Buffer_Bitcast = Entry<Bitcast>::Call;
}

}  // namespace sgd::pjrt
