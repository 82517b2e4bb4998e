// Panels for multiply_panel, put together from rows that lie anywhere, and what such rows are copied from.
#pragma once

#include <cstdint>

#include "engine/kernels/gemm/gemm_tile.h"

namespace grurun::kernels {

/// packed [rows, columns rounded up to columns_of_vector] = the rows that begin at B + offset[k], with zeros
/// beyond `columns`, which are columns_of_panel at most: B for multiply_panel, where several rows of A make
/// it worth it. packed is aligned to 64 bytes.
void gather_panel(const float* B, const int64_t* offset, int64_t rows, int64_t columns, float* packed);
void gather_panel(const double* B, const int64_t* offset, int64_t rows, int64_t columns, double* packed);

/// A panel's columns where they are not adjacent in B: runs of columns_of_vector elements, from[i] of a row
/// of B on to to[i] of the packed row. `to` ascends; what a run copies too much the next one, or the next
/// row, writes over.
struct PanelRuns {
  static constexpr int64_t most_columns = 52;  // one for each column, and those that fill the last vector
  int64_t count = 0;
  int64_t from[most_columns], to[most_columns];
};

/// packed [rows, width]: every row that begins at B + offset[k], by its runs. What is read of B reaches
/// columns_of_vector elements from the beginning of a run; what is written, as many beyond the end of packed.
void gather_runs(const float* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
                 float* packed);
void gather_runs(const double* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
                 double* packed);

/// Rows of a matrix and of what they are copied to.
template <class T>
struct RowsToSplit {
  const T* from;
  int64_t ld;  // from one of them to the next
  int64_t rows;
  int64_t n;  // elements of a row of the result
  int64_t ld_to;
};

/// first[i] = from[2 * i] of every row, and second[i] = from[2 * i + 1] where that is not nullptr, for i in
/// [0, n). Without it nothing is read behind the last element. What is written must not overlap what is read.
void split_rows(const RowsToSplit<float>& p, float* first, float* second);
void split_rows(const RowsToSplit<double>& p, double* first, double* second);

}  // namespace grurun::kernels
