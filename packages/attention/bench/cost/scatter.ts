/** Predicted over measured times as SVG text, both logarithmic, with the diagonal and a band around it. */

import type { PredictedReport } from "./predict.ts";

const SIZE = 560;
const FRAME = { left: 64, right: 24, top: 52, bottom: 52 } as const;
/** Okabe and Ito's, which colour-blind people can tell apart. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"];
const BAND = 1.25;

export function scatterSvg({ shapes, deviceName, profile }: PredictedReport): string {
  const all = shapes.flatMap(({ entries }) => entries.flatMap((e) => [e.measuredMs, e.predictedMs]));
  const [low, high] = [Math.min(...all) / 1.3, Math.max(...all) * 1.3];
  const place = (value: number): number => Math.log(value / low) / Math.log(high / low);
  const x = (value: number): number => FRAME.left + place(value) * (SIZE - FRAME.left - FRAME.right);
  const y = (value: number): number => SIZE - FRAME.bottom - place(value) * (SIZE - FRAME.top - FRAME.bottom);
  const at = (value: number): string => value.toFixed(1);
  const ticks = [1, 2, 5]
    .flatMap((digit) => Array.from({ length: 12 }, (_, k) => digit * 10 ** (k - 6)))
    .filter((tick) => tick >= low && tick <= high);
  const line = (factor: number, style: string): string => {
    const [from, to] = [low * Math.max(1, 1 / factor), high / Math.max(1, factor)];
    return `<path d="M${at(x(from))} ${at(y(from * factor))}L${at(x(to))} ${at(y(to * factor))}" stroke="#444" ${style}/>`;
  };
  const [left, right, top, bottom] = [x(low), x(high), y(high), y(low)].map(at);
  const parts = [
    `<rect width="${SIZE}" height="${SIZE}" fill="white"/>`,
    `<text x="${FRAME.left}" y="22" font-size="15" font-weight="bold">The cost model on ${escape(deviceName)}</text>`,
    `<text x="${FRAME.left}" y="40">${escape(profile)}; filled: held out; dashed: 25 % off</text>`,
    ...ticks.map(
      (tick) =>
        `<path d="M${at(x(tick))} ${top}V${bottom}M${left} ${at(y(tick))}H${right}" stroke="#ddd"/>` +
        `<text x="${at(x(tick))}" y="${SIZE - FRAME.bottom + 18}" text-anchor="middle">${Number(tick.toPrecision(1))}</text>` +
        `<text x="${FRAME.left - 8}" y="${at(y(tick))}" text-anchor="end" dominant-baseline="middle">${Number(tick.toPrecision(1))}</text>`,
    ),
    line(1, ""),
    line(BAND, 'stroke-dasharray="4 4"'),
    line(1 / BAND, 'stroke-dasharray="4 4"'),
    ...shapes.flatMap(({ shape, entries }, k) => {
      const colour = COLOURS[k % COLOURS.length] as string;
      return [
        ...entries.map(
          ({ id, half, measuredMs, predictedMs }) =>
            `<circle cx="${at(x(measuredMs))}" cy="${at(y(predictedMs))}" r="3.2" stroke="${colour}" fill="${half === "fitted" ? "none" : colour}" fill-opacity="0.6"><title>${escape(`${id}: ${measuredMs} ms, predicted ${predictedMs}`)}</title></circle>`,
        ),
        `<text x="${FRAME.left + 12}" y="${FRAME.top + 20 + 18 * k}" fill="${colour}">${escape(shape)}</text>`,
      ];
    }),
    `<text x="${SIZE / 2}" y="${SIZE - 12}" text-anchor="middle">measured, ms</text>`,
    `<text transform="translate(16 ${SIZE / 2}) rotate(-90)" text-anchor="middle">predicted, ms</text>`,
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE} ${SIZE}" font-family="sans-serif" font-size="12">\n${parts.join("\n")}\n</svg>\n`;
}

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
