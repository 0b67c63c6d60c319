/** Double precision, which the language does not have: chains of fma in C++ of their own, for the suite only. */

export const doublesKernels = `
namespace in_doubles {
// As the chains in single precision: x · 1 + 1 counts each step exactly.
template <int chains> __global__ void __launch_bounds__(256) doubles(unsigned block, double* to, double a, double b, unsigned iterations) {
  const unsigned i = blockIdx.x * block + threadIdx.x;
  double x[chains];
#pragma unroll
  for (int k = 0; k < chains; k++) x[k] = double(i % 128u + k);
  for (unsigned n = 0; n < iterations; n++) {
#pragma unroll
    for (int step = 0; step < 128 / chains; step++) {
#pragma unroll
      for (int k = 0; k < chains; k++) x[k] = __builtin_fma(x[k], a, b);
    }
  }
  double sum = 0;
#pragma unroll
  for (int k = 0; k < chains; k++) sum += x[k];
  to[i] = sum;
}
template <int chains> __global__ void __launch_bounds__(256) check_doubles(unsigned block, const double* from, unsigned iterations, unsigned* verdict) {
  const unsigned i = blockIdx.x * block + threadIdx.x;
  const double wanted = double(i % 128u) * chains + chains * (chains - 1) / 2 + double(iterations) * 128;
  if (!(from[i] == wanted)) {
    verdict[0] = 1u;
    verdict[1] = i;
  }
}
}  // namespace in_doubles
`;

export const doublesTest = `
template <int chains> void addDoubles(std::vector<Case>& cases, double* to, const char* name, bool latency) {
  const unsigned workgroups = latency ? 1u : 16u * multiprocessors, block = latency ? SUBGROUP_WIDTH : 256u;
  const double work = latency ? 128.0 : 2.0 * 128 * block * workgroups;
  cases.push_back({name, latency ? "ns" : "GFLOP/s", work, 1u, 1u << 20, 1u, false, false,
      [=](unsigned iterations, unsigned) { start(in_doubles::doubles<chains>, workgroups, block, block, to, 1.0, 1.0, iterations); },
      [=](unsigned, unsigned) { CHECK(API##Memset(to, 0xff, block * workgroups * sizeof(double))); },
      [=](unsigned iterations, unsigned) { start(in_doubles::check_doubles<chains>, workgroups, block, block, to, iterations, verdict); }});
}

void test_doubles() {
  std::printf("\\nDouble precision\\n");
  Memory memory;
  auto* const to = memory.take<double>(16ull * multiprocessors * 256);
  std::vector<Case> cases;
  addDoubles<1>(cases, to, "f64 fused multiply-add, latency", true);
  addDoubles<4>(cases, to, "f64 fused multiply-add, 256 invocations, 4 chains", false);
  addDoubles<8>(cases, to, "f64 fused multiply-add, 256 invocations, 8 chains", false);
  run(cases);
}
`;
