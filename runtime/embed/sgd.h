/* The C interface of sgd's runtime: load an artifact, run its steps, destroy it. Link libsgd.so; there is no compiler
 * in it.
 *
 *   sgd_program* program;
 *   sgd_error* error = sgd_load("model.sgda", NULL, &program);
 *   if (!error) error = sgd_read_file(program, "weights.safetensors");
 *   if (!error) error = sgd_set_input(program, x, data, bytes);
 *   if (!error) error = sgd_run(program);
 *   if (!error) error = sgd_get_output(program, y, data, bytes);
 *   if (error) report(sgd_error_message(error));  ...  sgd_error_destroy(error);
 *   sgd_destroy(program);
 *
 * The ranks of the artifact are threads of the calling process, each with a GPU where the artifact is for GPUs; results
 * are the bits that sgdrun computes. Functions that can fail return NULL, or an error that the caller destroys. A
 * program belongs to one thread at a time; several programs may run in several threads. Strings and structures that
 * functions return live as long as their program. Nothing prints, exits the process or installs a signal handler.
 *
 * Run only artifacts that you trust: they carry machine code. */
#ifndef SGD_H
#define SGD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SGD_API __attribute__((visibility("default")))
#else
#define SGD_API
#endif

/* Raised when a program that was compiled with an older header must be compiled anew. Functions and fields may be added
 * without that. */
#define SGD_ABI_VERSION 1
/* That of the library. */
SGD_API uint32_t sgd_abi_version(void);
/* "0.1.0" */
SGD_API const char* sgd_version(void);

/* Codes of errors, numbered as gRPC's. */
typedef enum {
  SGD_CANCELLED = 1,
  SGD_UNKNOWN = 2,
  SGD_INVALID_ARGUMENT = 3,
  SGD_DEADLINE_EXCEEDED = 4,
  SGD_NOT_FOUND = 5,
  SGD_PERMISSION_DENIED = 7,
  SGD_RESOURCE_EXHAUSTED = 8,
  SGD_FAILED_PRECONDITION = 9,
  SGD_ABORTED = 10,
  SGD_UNIMPLEMENTED = 12,
  SGD_INTERNAL = 13,
  SGD_UNAVAILABLE = 14,
  SGD_DATA_LOSS = 15
} sgd_code;

typedef struct sgd_error sgd_error;
SGD_API sgd_code sgd_error_code(const sgd_error* error);
/* One line: the file, tensor, or rank and instruction, and what to do. */
SGD_API const char* sgd_error_message(const sgd_error* error);
/* NULL is allowed. */
SGD_API void sgd_error_destroy(sgd_error* error);

typedef struct sgd_program sgd_program;

typedef struct {
  size_t size;            /* sizeof(sgd_options), for later versions to tell which fields there are */
  const char* plan;       /* of an artifact with several plans; NULL: the only one */
  const char* program;    /* NULL: main, else train, else the only one */
  uint32_t threads;       /* per rank; 0: the cores of the calling thread divided by the ranks */
  double timeout_seconds; /* of each wait of a rank for its peers; 0: 300 */
} sgd_options;

/* Loads an artifact and prepares its ranks. `options` may be NULL. SGD_FAILED_PRECONDITION where it is for another CPU
 * or GPU, or a GPU, its driver or a library of NVIDIA's is missing, SGD_INVALID_ARGUMENT where it is damaged. */
SGD_API sgd_error* sgd_load(const char* path, const sgd_options* options, sgd_program** program);
/* The same from memory, which is copied. */
SGD_API sgd_error* sgd_load_bytes(const void* artifact, size_t bytes, const sgd_options* options,
                                  sgd_program** program);
/* NULL is allowed. */
SGD_API void sgd_destroy(sgd_program* program);

/* The number of ranks. */
SGD_API uint32_t sgd_ranks(const sgd_program* program);

/* SGD_BOOL has a byte of 0 or 1 for each element, SGD_C64 pairs of SGD_F32. */
typedef enum {
  SGD_BOOL,
  SGD_I8,
  SGD_I16,
  SGD_I32,
  SGD_I64,
  SGD_U8,
  SGD_U16,
  SGD_U32,
  SGD_U64,
  SGD_F16,
  SGD_BF16,
  SGD_F32,
  SGD_F64,
  SGD_F8E4M3FN,
  SGD_F8E5M2,
  SGD_C64
} sgd_type;

typedef struct {
  const char* name; /* the model's own */
  sgd_type type;
  uint32_t rank;       /* number of dimensions */
  const int64_t* dims; /* of the whole tensor, not of a shard */
  uint64_t bytes;      /* row-major, without gaps */
  /* Of an input: the output that becomes its next value (sgd_carry); of an output: the input that it becomes. -1: none.
   */
  int64_t carry;
} sgd_tensor;

SGD_API size_t sgd_input_count(const sgd_program* program);
SGD_API size_t sgd_output_count(const sgd_program* program);
/* NULL for a position that there is not. */
SGD_API const sgd_tensor* sgd_input(const sgd_program* program, size_t position);
SGD_API const sgd_tensor* sgd_output(const sgd_program* program, size_t position);
/* By the model's names, or "arg3", "result0". SGD_NOT_FOUND suggests the nearest one. */
SGD_API sgd_error* sgd_find_input(const sgd_program* program, const char* name, size_t* position);
SGD_API sgd_error* sgd_find_output(const sgd_program* program, const char* name, size_t* position);

/* Copies a whole tensor of sgd_tensor.bytes to the ranks' shards. */
SGD_API sgd_error* sgd_set_input(sgd_program* program, size_t position, const void* data, size_t bytes);
/* Sets an input from each tensor of a safetensors file (or folder of a checkpoint), by name: the same dimensions and
 * type, or another integer type where every value fits. Nothing is set on an error; SGD_INVALID_ARGUMENT for a tensor
 * that no input is named after. */
SGD_API sgd_error* sgd_read_file(sgd_program* program, const char* path);
/* 1 where the next run finds a value of the input. A run may use the memory of inputs for something else: it leaves
 * values only where the artifact says that it keeps them. */
SGD_API int sgd_has_input(const sgd_program* program, size_t position);

/* One step on all ranks. SGD_FAILED_PRECONDITION names an input without a value. After any other error the program
 * can only be restarted or destroyed. */
SGD_API sgd_error* sgd_run(sgd_program* program);
/* Makes outputs of the last run the inputs of the next one: a training step's new state. */
SGD_API sgd_error* sgd_carry(sgd_program* program);
/* Prepares the ranks anew. No input has a value afterwards. */
SGD_API sgd_error* sgd_restart(sgd_program* program);

/* Copies the ranks' shards to a whole tensor of sgd_tensor.bytes. Outputs have a value from a run until an input that
 * shares their memory is set or carried: read them first. */
SGD_API sgd_error* sgd_get_output(const sgd_program* program, size_t position, void* data, size_t bytes);
SGD_API sgd_error* sgd_get_input(const sgd_program* program, size_t position, void* data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
