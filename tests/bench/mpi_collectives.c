/* The peer of collectives.cpp: the same sizes and kinds through MPI, in place where MPI allows it.
   mpicc -O3 -march=native mpi_collectives.c -o mpi_collectives && mpirun -n 2 ./mpi_collectives */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  static const long kib[] = {1, 4, 64, 1024, 4096, 16384, 65536};
  static const char *names[] = {"all_reduce", "all_gather", "reduce_scatter"};
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int s = 0; s < 5; ++s) {
    long count = kib[s] * 256;
    int iterations = 300000 / (int)(kib[s] + 300);
    iterations = iterations > 1000 ? 1000 : iterations < 7 ? 7 : iterations;
    float *a = malloc(count * sizeof(float)), *b = malloc(count * sizeof(float));
    double *times = malloc((iterations + 3) * sizeof(double));
    for (long i = 0; i < count; ++i) a[i] = b[i] = 1;
    for (int kind = 0; kind < 3; ++kind) {
      for (int i = 0; i < iterations + 3; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        if (kind == 0) MPI_Allreduce(MPI_IN_PLACE, a, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (kind == 1) MPI_Allgather(a, count / ranks, MPI_FLOAT, b, count / ranks, MPI_FLOAT, MPI_COMM_WORLD);
        if (kind == 2) MPI_Reduce_scatter_block(b, a, count / ranks, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        times[i] = (MPI_Wtime() - begin) * 1e6;
      }
      qsort(times + 3, iterations, sizeof(double), compare);
      if (rank == 0) printf("%s %ld %d %.2f %.2f\n", names[kind], kib[s], ranks, times[3], times[3 + iterations / 2]);
    }
    free(a);
    free(b);
    free(times);
  }
  MPI_Finalize();
}
