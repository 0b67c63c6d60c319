/** What a self-test of a row kernel is: normal inputs drawn by the program, and a judge written by hand in its language. */

import type { Selftest } from "@evolver/kernel";
import { EPSILON, rowFlops, type RowProblem } from "@evolver/softmax";

export function rowSelftest(
  id: string,
  problem: RowProblem,
  workgroups: readonly [number, number, number],
): Selftest {
  const { operation, rows, columns } = problem;
  const length = rows * columns;
  const softmax = operation === "softmax";
  return {
    title: `softmax/${id}, ${operation} of ${rows} x ${columns}`,
    workgroups,
    args: {
      x: { length, contents: { kind: "normal", seed: 1 } },
      y: { length, contents: { kind: "unset" } },
      rows,
    },
    reference: {
      cpp: `constexpr bool SOFTMAX = ${softmax};
constexpr long ROWS = ${rows};
constexpr long COLUMNS = ${columns};
constexpr double EPSILON = ${EPSILON};
${JUDGE_CPP.trim()}`,
      js: `const [SOFTMAX, ROWS, COLUMNS, EPSILON] = [${softmax}, ${rows}, ${columns}, ${EPSILON}];
${JUDGE_JS.trim()}`,
    },
    flops: rowFlops(problem),
  };
}

/** The rule in both: max |out − double| ≤ 2 · max |plain float − double| + atol. A NaN never passes. */
const JUDGE_CPP = String.raw`
// One row by its definition, in the precision of T. Sums begin at first and wrap round.
template <typename T>
void plainRow(const float* x, long first, T* y) {
  const auto sum = [&](const auto& term) {
    T total = 0;
    for (long i = 0; i < COLUMNS; i++) total += term((first + i) % COLUMNS);
    return total;
  };
  if constexpr (SOFTMAX) {
    T largest = x[0];
    for (long i = 1; i < COLUMNS; i++) largest = std::max(largest, T(x[i]));
    for (long i = 0; i < COLUMNS; i++) y[i] = std::exp(T(x[i]) - largest);
    const T total = sum([&](long i) { return y[i]; });
    for (long i = 0; i < COLUMNS; i++) y[i] /= total;
  } else {
    const T mean = sum([&](long i) { return T(x[i]); }) / COLUMNS;
    for (long i = 0; i < COLUMNS; i++) y[i] = T(x[i]) - mean;
    const T variance = sum([&](long i) { const T square = y[i] * y[i]; return square; }) / COLUMNS;
    const T factor = 1 / std::sqrt(variance + T(EPSILON));
    for (long i = 0; i < COLUMNS; i++) y[i] *= factor;
  }
}

bool verify(const float* x, const float* y) {
  const int ORDERS = 4;
  std::vector<double> exact(COLUMNS);
  std::vector<float> plain(COLUMNS);
  double kernel = 0, low = 0, rounding = 0, size = 0;
  for (long row = 0; row < ROWS; row++) {
    const float* from = x + row * COLUMNS;
    plainRow<double>(from, 0, exact.data());
    for (int order = 0; order < ORDERS; order++) {
      plainRow<float>(from, order * COLUMNS / ORDERS, plain.data());
      for (long i = 0; i < COLUMNS; i++) low = std::max(low, std::fabs(double(plain[i]) - exact[i]));
    }
    for (long i = 0; i < COLUMNS; i++) {
      const double error = std::fabs(double(y[row * COLUMNS + i]) - exact[i]);
      if (error > kernel || error != error) kernel = error;
      const float value = float(exact[i]);
      const volatile float up = value + 0.3f;
      const volatile float back = up - 0.3f;
      rounding = std::max(rounding, 2.0 * std::fabs(double(back) - double(value)));
      size = std::max(size, std::fabs(exact[i]));
    }
    if (kernel != kernel) break;
  }
  const double allowed = std::max(2 * low + std::min(rounding, size / 8192), size * 4 / 16777216);
  std::printf("y: largest error %.3g, allowed %.3g (plain float is off by %.3g)\n", kernel, allowed, low);
  return kernel <= allowed;
}
`;

const JUDGE_JS = String.raw`
/** One row by its definition; round is Math.fround for float, and nothing for double precision. */
function plainRow(x, round, first) {
  const sum = (values) => {
    let total = 0;
    for (let i = 0; i < COLUMNS; i++) total = round(total + values[(first + i) % COLUMNS]);
    return total;
  };
  if (SOFTMAX) {
    const largest = x.reduce((a, b) => Math.max(a, b), -Infinity);
    const weights = Array.from(x, (value) => round(Math.exp(round(value - largest))));
    const total = sum(weights);
    return weights.map((weight) => round(weight / total));
  }
  const mean = round(sum(x) / COLUMNS);
  const differences = Array.from(x, (value) => round(value - mean));
  const variance = round(sum(differences.map((value) => round(value * value))) / COLUMNS);
  const factor = round(1 / round(Math.sqrt(round(variance + EPSILON))));
  return differences.map((value) => round(value * factor));
}

function verify(x, y) {
  const ORDERS = 4;
  let [kernel, low, rounding, size] = [0, 0, 0, 0];
  for (let row = 0; row < ROWS && kernel === kernel; row++) {
    const from = x.subarray(row * COLUMNS, (row + 1) * COLUMNS);
    const exact = plainRow(from, (value) => value, 0);
    for (let order = 0; order < ORDERS; order++)
      for (const [i, value] of plainRow(from, Math.fround, Math.floor((order * COLUMNS) / ORDERS)).entries())
        low = Math.max(low, Math.abs(value - exact[i]));
    for (const [i, want] of exact.entries()) {
      const error = Math.abs(y[row * COLUMNS + i] - want);
      if (error > kernel || error !== error) kernel = error;
      const value = Math.fround(want);
      const shift = Math.fround(0.3);
      rounding = Math.max(rounding, 2 * Math.abs(Math.fround(Math.fround(value + shift) - shift) - value));
      size = Math.max(size, Math.abs(want));
    }
  }
  const allowed = Math.max(2 * low + Math.min(rounding, size / 8192), (size * 4) / 16777216);
  console.log("y: largest error " + kernel.toPrecision(3) + ", allowed " + allowed.toPrecision(3));
  return kernel <= allowed;
}
`;
