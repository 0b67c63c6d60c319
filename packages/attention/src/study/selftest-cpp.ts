/**
 * The judge of attention's self-tests in C++: plain attention in double precision, and in float as the yardstick of how
 * far an honest kernel may be off. Written by hand for people to read; it shares nothing with the kernels.
 */

export const attentionJudgeCpp = String.raw`
// The keys from begin up to, not with, end are those that query row i sees.
void visibleKeys(long i, long& begin, long& end) {
  const long position = i + SEQ_K - SEQ_Q;
  const double left = MASK == WINDOW ? double(LEFT) : double(SEQ_K) + SEQ_Q;
  const double right = MASK == FULL ? double(SEQ_K) + SEQ_Q : MASK == CAUSAL ? 0.0 : double(RIGHT);
  begin = long(std::min(std::max(position - left, 0.0), double(SEQ_K)));
  end = long(std::max(std::min(position + right + 1, double(SEQ_K)), double(begin)));
}

// One row of plain attention in the precision of T. K is scaled, not Q, so that it rounds differently from kernels.
// Sums over the head dimension begin at firstDim, sums over the keys at firstKey, and wrap round.
template <typename T>
void plainRow(const float* q, const float* k, const float* v, long begin, long end, long firstDim, long firstKey,
              T* o, T& lse) {
  const long keys = end - begin;
  std::vector<T> scores(keys);
  T largest = -INFINITY;
  for (long n = 0; n < keys; n++) {
    const float* key = k + (begin + n) * DIM;
    T sum = 0;
    for (long c = 0; c < DIM; c++) {
      const long d = (c + firstDim) % DIM;
      const T scaled = T(key[d]) * T(SCALE);
      const T product = T(q[d]) * scaled;
      sum += product;
    }
    if constexpr (SOFTCAP > 0) sum = T(SOFTCAP) * std::tanh(sum / T(SOFTCAP));
    scores[n] = sum;
    largest = std::max(largest, sum);
  }
  // A float sum of many terms is added in blocks: in one sequence its error would grow with the number of keys.
  const long BLOCK = 1024;
  T total = 0, blockTotal = 0;
  std::vector<T> sums(DIM, T(0)), blockSums(DIM, T(0));
  for (long c = 0; c < keys; c++) {
    const long n = (c + firstKey) % keys;
    const T weight = std::exp(scores[n] - largest);
    blockTotal += weight;
    for (long d = 0; d < DIM; d++) {
      const T product = weight * T(v[(begin + n) * DIM + d]);
      blockSums[d] += product;
    }
    if ((c + 1) % BLOCK != 0 && c + 1 != keys) continue;
    total += blockTotal;
    for (long d = 0; d < DIM; d++) sums[d] += blockSums[d];
    blockTotal = 0;
    blockSums.assign(DIM, T(0));
  }
  for (long d = 0; d < DIM; d++) o[d] = sums[d] / total;
  lse = largest + std::log(total);
}

// What rounding to float near 0.3 does to a value: FlashAttention-3's absolute tolerance is twice the largest of it.
double rounding(double reference) {
  const float value = float(reference), shift = 0.3f;
  const volatile float up = value + shift;
  const volatile float back = up - shift;
  return 2.0 * std::fabs(double(back) - double(value));
}

struct Errors {
  double kernel = 0, plain = 0, rounding = 0, size = 0;
  void take(double got, const double* plains, int orders, double want) {
    const double error = std::fabs(got - want);
    kernel = error > kernel || error != error ? error : kernel;
    for (int order = 0; order < orders; order++) plain = std::max(plain, std::fabs(plains[order] - want));
    rounding = std::max(rounding, evolver_selftest::rounding(want));
    size = std::max(size, std::fabs(want));
  }
  bool report(const char* name, bool limited) const {
    const double factor = SOFTCAP > 0 ? 3.0 : 2.0;
    const double atol = limited ? std::min(rounding, size / 8192) : rounding;
    const double allowed = std::max(factor * plain + atol, size * 4 / 16777216);
    std::printf("%s: largest error %.3g, allowed %.3g (%.0f times plain float's %.3g, and %.3g)\n", name, kernel, allowed,
                factor, plain, atol);
    return kernel <= allowed;
  }
};

// The rule: max |out - double| <= factor * max |plain float - double| + atol. A NaN never passes.
bool verify(const float* q, const float* k, const float* v, const float* o, const float* lse) {
  const int ORDERS = 8;
  const long rows = BATCH * HEADS_Q * SEQ_Q;
  Errors errorsO, errorsLse;
  std::vector<double> exact(DIM);
  std::vector<std::vector<float>> plain(ORDERS, std::vector<float>(DIM));
  long checked = 0;
  bool finite = true;
  for (long i = 0; i < rows * DIM; i++) finite &= std::isfinite(o[i]) != 0;
  if (!finite) std::printf("o: not every element is a finite number\n");
  for (long row = 0; row < rows; row += ROW_STEP, checked++) {
    const long head = row / SEQ_Q, keyHead = head / HEADS_Q * HEADS_KV + head % HEADS_Q / (HEADS_Q / HEADS_KV);
    const float* keys = k + keyHead * SEQ_K * DIM;
    const float* values = v + keyHead * SEQ_K * DIM;
    long begin, end;
    visibleKeys(row % SEQ_Q, begin, end);
    if (begin == end) {
      bool right = std::isinf(lse[row]) && lse[row] < 0;
      for (long d = 0; d < DIM; d++) right &= o[row * DIM + d] == 0;
      if (!right) std::printf("row %ld sees no key; its o must be 0 and its lse -infinity\n", row);
      finite &= right;
      continue;
    }
    double exactLse;
    float plainLse;
    double plainLses[ORDERS], plainValues[ORDERS];
    plainRow<double>(q + row * DIM, keys, values, begin, end, 0, 0, exact.data(), exactLse);
    for (int order = 0; order < ORDERS; order++) {
      plainRow<float>(q + row * DIM, keys, values, begin, end, order * 5, order * 3, plain[order].data(), plainLse);
      plainLses[order] = plainLse;
    }
    for (long d = 0; d < DIM; d++) {
      for (int order = 0; order < ORDERS; order++) plainValues[order] = plain[order][d];
      errorsO.take(o[row * DIM + d], plainValues, ORDERS, exact[d]);
    }
    errorsLse.take(lse[row], plainLses, ORDERS, exactLse);
  }
  std::printf("%ld of %ld rows compared with plain attention in double precision\n", checked, rows);
  const bool right = errorsO.report("o", true);
  return errorsLse.report("lse", false) && right && finite;
}
`;
