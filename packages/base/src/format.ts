/** Numbers as people read them, for tables, messages and charts. What programs read is JSON, with all digits. */

/** Stands where there is no number. */
export const NOTHING = "–";

export const orNothing = (value: number | null, print: (value: number) => string): string =>
  value === null ? NOTHING : print(value);

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** A whole number in groups: 1234567 → "1,234,567". */
export const grouped = (value: number): string => whole.format(value);

/** "1 cycle", "2 cycles", "143,769,600 points". */
export const counted = (count: number, what: string): string =>
  `${grouped(count)} ${what}${count === 1 ? "" : "s"}`;

/** So many digits that matter, for columns: 3.14159 → "3.14", 2 → "2.00"; a whole part is never cut: 1234.5 → "1,235". */
export function digits(value: number, significant = 3): string {
  return Math.abs(value) >= 10 ** (significant - 1) ? grouped(value) : value.toPrecision(significant);
}

/** The same for running text, without zeros at the end: 2 → "2", 0.25 → "0.25". */
export function number(value: number, significant = 3): string {
  if (Number.isInteger(value) || Math.abs(value) >= 10 ** (significant - 1)) return grouped(value);
  return String(Number(value.toPrecision(significant)));
}

/** 4297064448 → "4.30 G", and with the unit "B" "4.30 GB"; 512 → "512", and with the unit "512 B". */
export function quantity(value: number, unit = ""): string {
  const prefixes = ["", "k", "M", "G", "T"];
  let scaled = value;
  let step = 0;
  // What rounds to 1000 goes to the next prefix.
  while (Math.abs(scaled) >= (step === 0 ? 1000 : 999.5) && step < prefixes.length - 1) {
    scaled /= 1000;
    step++;
  }
  const text = step === 0 ? String(Math.round(scaled * 100) / 100) : digits(scaled);
  return `${text} ${prefixes[step]}${unit}`.trimEnd();
}

/** In powers of 1024: 1536 → "1.5 KiB". */
export function binaryBytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10));
  return `${number(value / 1024 ** power)} ${units[power]}`;
}

/** So many digits that matter, of the whole part too, and never an exponent: 75,654.3 → "75,650", 0.0123456 → "0.01235". */
export function rounded(value: number, significant = 4): string {
  if (Math.abs(value) < 10 ** significant) return value.toPrecision(significant);
  return grouped(Number(value.toPrecision(significant)));
}

/** A figure of a machine with its unit: "75,650 GFLOP/s"; 16,384 bytes → "16.4 kB". */
export function measurement(value: number, unit: string): string {
  return unit === "bytes" ? quantity(value, "B") : `${rounded(value)} ${unit}`;
}

/** A time in the unit that fits: "1.24 ms", "13.0 µs", "2 min 5 s". */
export function duration(timeMs: number, significant = 3): string {
  if (timeMs >= 60_000) {
    const seconds = Math.round(timeMs / 1000);
    return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }
  if (timeMs >= 1000) return `${(timeMs / 1000).toPrecision(significant)} s`;
  if (timeMs >= 1 || timeMs === 0) return `${timeMs.toPrecision(significant)} ms`;
  return `${(timeMs * 1000).toPrecision(significant)} µs`;
}

/** Writes times that stand beside each other in one unit, by the longest: "0.512 ms", "12.3 µs". */
export function durationsUpTo(longestMs: number): (timeMs: number) => string {
  return longestMs >= 0.1 ? (timeMs) => `${number(timeMs)} ms` : (timeMs) => `${number(timeMs * 1000)} µs`;
}

/** 0.1234 → "12.3 %". */
export const percent = (share: number, decimals = 1): string => `${(100 * share).toFixed(decimals)} %`;

/** A ratio: 1.5 → "1.50×". */
export const times = (ratio: number, decimals = 2): string => `${ratio.toFixed(decimals)}×`;

/** 2.5e-7 → "2.5·10⁻⁷". */
export function scientific(value: number, decimals = 1): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const [mantissa = "", exponent = ""] = value.toExponential(decimals).split("e");
  const superscript = [...exponent.replace("+", "")]
    .map((character) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(character)])
    .join("");
  return `${mantissa}·10${superscript}`;
}
