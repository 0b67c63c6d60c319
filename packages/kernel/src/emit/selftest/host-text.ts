/** The host part of C++ self-tests that is the same for every kernel. API## stands for `cuda` or `hip`. */

import { checkMacro, type CppTarget } from "../cpp/hosts.ts";

export const hostText = (target: CppTarget): string =>
  String.raw`
${checkMacro(target)}

// Mulberry32, a small generator: the same seed gives the same numbers everywhere.
struct Random {
  std::uint32_t state;
  double uniform() {
    state += 0x6d2b79f5u;
    std::uint32_t mixed = (state ^ (state >> 15)) * (1u | state);
    mixed = (mixed + (mixed ^ (mixed >> 7)) * (61u | mixed)) ^ mixed;
    return (mixed ^ (mixed >> 14)) / 4294967296.0;
  }
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }
};

// A buffer on the GPU with its contents before and after, and a stretch behind its end that nobody may write.
template <typename T> struct Buffer {
  static constexpr std::size_t GUARD = 64;
  static constexpr unsigned PATTERN = 0x5ca1ab1eu;
  const char* name;
  std::size_t length;
  bool written;
  std::vector<T> before, after;
  T* device = nullptr;

  Buffer(const char* name, std::size_t length, bool written)
      : name(name), length(length), written(written), before(length + GUARD) {
    for (std::size_t i = length; i < before.size(); i++) std::memcpy(&before[i], &PATTERN, sizeof(T));
    CHECK(API##Malloc(reinterpret_cast<void**>(&device), before.size() * sizeof(T)));
  }
  void uniform(unsigned seed) {
    Random random{seed};
    for (std::size_t i = 0; i < length; i++) before[i] = T(random.uniform() * 2.0 - 1.0);
  }
  void normal(unsigned seed) {
    Random random{seed};
    for (std::size_t i = 0; i < length; i++) before[i] = T(random.normal());
  }
  void bits(const unsigned* values) { std::memcpy(before.data(), values, length * sizeof(T)); }
  void unset() { std::memset(before.data(), 0xff, length * sizeof(T)); }
  void upload() {
    CHECK(API##Memcpy(device, before.data(), before.size() * sizeof(T), API##MemcpyHostToDevice));
  }
  // Reads the contents back; false if something wrote behind the end, or what is only read.
  bool download() {
    after.resize(before.size());
    CHECK(API##Memcpy(after.data(), device, after.size() * sizeof(T), API##MemcpyDeviceToHost));
    const std::size_t from = written ? length : 0;
    if (std::memcmp(&after[from], &before[from], (after.size() - from) * sizeof(T)) == 0) return true;
    std::printf("%s: the kernel wrote where it must not\n", name);
    return false;
  }
};

inline double valueOf(float x) { return x; }
inline double valueOf(int x) { return x; }
inline double valueOf(unsigned x) { return x; }

// Exact where both tolerances are 0. A NaN passes only for a NaN.
template <typename T>
bool compare(const Buffer<T>& buffer, const unsigned* expectedBits, double relative, double absolute) {
  std::vector<T> expected(buffer.length);
  std::memcpy(expected.data(), expectedBits, buffer.length * sizeof(T));
  std::size_t wrong = 0;
  double largest = 0;
  for (std::size_t i = 0; i < buffer.length; i++) {
    const double got = valueOf(buffer.after[i]), want = valueOf(expected[i]);
    if (got == want || (got != got && want != want)) continue;
    const double error = std::fabs(got - want);
    if (error > largest || error != error) largest = error;
    if (error <= relative * std::fabs(want) + absolute) continue;
    if (wrong++ == 0) std::printf("%s[%zu] is %.9g, not %.9g\n", buffer.name, i, got, want);
  }
  if (wrong == 0) std::printf("%s: %zu elements as expected, largest error %.3g\n", buffer.name, buffer.length, largest);
  else std::printf("%s: %zu of %zu elements are wrong\n", buffer.name, wrong, buffer.length);
  return wrong == 0;
}
`
    .replaceAll("API##", target)
    .trim();
