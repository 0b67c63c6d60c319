/** Numbers as people read them. */

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const count = (value: number): string => grouped.format(value);

/** Three significant digits. */
export const digits = (value: number): string =>
  value >= 1000 ? count(value) : Number(value.toPrecision(3)).toString();

export const milliseconds = (ms: number): string => `${digits(ms)} ms`;

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let power = 0;
  while (value >= 1024 && power < units.length - 1) {
    value /= 1024;
    power++;
  }
  return `${digits(value)} ${units[power]}`;
}

/** 2.5e-7 as 2.5·10⁻⁷. */
export function scientific(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const [mantissa = "", exponent = ""] = value.toExponential(1).split("e");
  const superscript = [...exponent.replace("+", "")]
    .map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)])
    .join("");
  return `${mantissa}·10${superscript}`;
}
