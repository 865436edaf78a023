/* Serves a model: rows of numbers in, rows of numbers out, over TCP.
 *
 *   serve MODEL.sgda WEIGHTS.safetensors INPUT OUTPUT [PORT]
 *
 * INPUT is the program's input of one row for each example, [rows, ...], OUTPUT what to answer with. A client sends a line
 * of numbers for each row, and gets a line for each; rows wait until a batch is full or the client ends its lines, as in
 *
 *   printf '0.1 0.2\n0.3 0.4\n' | nc -N 127.0.0.1 8080
 *
 * SIGINT and SIGTERM end it after the client that it serves.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sgd.h"

static volatile sig_atomic_t stopped = 0;

static void stop(int signal) {
  (void)signal;
  stopped = 1;
}

/* Ends the server between two clients. Without SA_RESTART, so that the signal ends a wait for the next one. */
static void end_on(int signal) {
  struct sigaction action = {.sa_handler = stop};
  sigaction(signal, &action, NULL);
}

static void check(sgd_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "serve: %s\n", sgd_error_message(error));
  sgd_error_destroy(error);
  exit(1);
}

static void fail(const char* why) {
  fprintf(stderr, "serve: %s\n", why);
  exit(1);
}

typedef struct {
  size_t position;
  size_t rows, columns;  /* of its first dimension, and numbers in each row */
  float* values;
} table;

static table table_of(size_t position, const sgd_tensor* tensor) {
  if (tensor->type != SGD_F32 || tensor->rank == 0) fail("INPUT and OUTPUT must be tables of f32");
  table result = {position, (size_t)tensor->dims[0], 1, NULL};
  for (uint32_t d = 1; d < tensor->rank; ++d) result.columns *= (size_t)tensor->dims[d];
  result.values = calloc(1, tensor->bytes);
  if (result.values == NULL) fail("no memory");
  return result;
}

/* Every row of a batch is computed, those that no client has sent as zeros. */
static void answer(sgd_program* program, table* in, table* out, size_t rows, FILE* client) {
  memset(in->values + rows * in->columns, 0, (in->rows - rows) * in->columns * sizeof(float));
  check(sgd_set_input(program, in->position, in->values, in->rows * in->columns * sizeof(float)));
  check(sgd_run(program));
  check(sgd_get_output(program, out->position, out->values, out->rows * out->columns * sizeof(float)));
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < out->columns; ++i)
      fprintf(client, "%s%.9g", i == 0 ? "" : " ", out->values[row * out->columns + i]);
    fprintf(client, "\n");
  }
}

/* Whether the line has the numbers of a row, and nothing else. */
static int read_row(const char* line, float* row, size_t columns) {
  char* end;
  for (size_t i = 0; i < columns; ++i) {
    row[i] = strtof(line, &end);
    if (end == line) return 0;
    line = end;
  }
  return line[strspn(line, " \t\r\n")] == '\0';
}

static void serve(sgd_program* program, table* in, table* out, int connection) {
  FILE* from = fdopen(connection, "r");
  FILE* to = fdopen(dup(connection), "w");
  if (from == NULL || to == NULL) fail("no memory");
  char* line = NULL;
  size_t capacity = 0, rows = 0;
  while (getline(&line, &capacity, from) >= 0) {
    if (!read_row(line, in->values + rows * in->columns, in->columns)) {
      fprintf(to, "error: expected %zu numbers in each line\n", in->columns);
      break;
    }
    if (++rows < in->rows) continue;
    answer(program, in, out, rows, to);
    rows = 0;
  }
  if (rows > 0) answer(program, in, out, rows, to);
  free(line);
  fclose(from);
  fclose(to);
}

int main(int count, char** arguments) {
  if (count < 5 || count > 6) fail("expected MODEL.sgda WEIGHTS.safetensors INPUT OUTPUT [PORT]");
  if (sgd_abi_version() != SGD_ABI_VERSION) fail("libsgd.so has another ABI than sgd.h");
  sgd_program* program;
  check(sgd_load(arguments[1], NULL, &program));
  check(sgd_read_file(program, arguments[2]));
  size_t input, output;
  check(sgd_find_input(program, arguments[3], &input));
  check(sgd_find_output(program, arguments[4], &output));
  table in = table_of(input, sgd_input(program, input)), out = table_of(output, sgd_output(program, output));
  if (in.rows != out.rows) fail("INPUT and OUTPUT must have equal numbers of rows");

  signal(SIGPIPE, SIG_IGN);
  end_on(SIGINT);
  end_on(SIGTERM);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  address.sin_port = htons((uint16_t)(count == 6 ? atoi(arguments[5]) : 0));
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, 16) != 0) fail("cannot listen there");
  getsockname(listener, (struct sockaddr*)&address, &size);
  printf("%u ranks; listening at 127.0.0.1:%u\n", sgd_ranks(program), ntohs(address.sin_port));
  fflush(stdout);
  while (!stopped) {
    const int connection = accept(listener, NULL, NULL);
    if (connection >= 0) serve(program, &in, &out, connection);
  }
  close(listener);
  free(in.values);
  free(out.values);
  sgd_destroy(program);
  return 0;
}
