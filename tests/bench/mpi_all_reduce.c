/* The peer of host_collectives.cpp: all-reduces through MPI, in place. usage: mpirun ... mpi_all_reduce [KIB...] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int argument = 1; argument < argc; ++argument) {
    long kib = atol(argv[argument]), count = kib * 256;
    int iterations = 40000 / (int)kib;
    iterations = iterations > 200 ? 200 : iterations < 5 ? 5 : iterations;
    float *values = malloc(count * sizeof(float));
    double times[200];
    for (long i = 0; i < count; ++i) values[i] = 1;
    for (int i = 0; i < iterations + 2; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      double begin = MPI_Wtime();
      MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      if (i >= 2) times[i - 2] = (MPI_Wtime() - begin) * 1e3;
    }
    qsort(times, iterations, sizeof(double), compare);
    if (rank == 0) printf("all_reduce %ld %d %.3f %.3f\n", kib, ranks, times[0], times[iterations / 2]);
    free(values);
  }
  MPI_Finalize();
}
