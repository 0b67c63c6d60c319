/** Converts a plot to an option of ECharts. Nothing here draws: the same option becomes a file or part of a page. */

import {
  assertNever,
  axisTitle,
  visiblePoints,
  type PlotAxis,
  type PlotPoint,
  type PlotSeries,
  type PlotSpec,
} from "@evolver/base";
import type { EChartsCoreOption } from "echarts/core";
import {
  legendNames,
  LEGEND_GAP,
  LEGEND_ROW,
  MARGIN,
  NOTE_LINE,
  TITLE_HEIGHT,
  type Layout,
} from "./layout.ts";
import { EDGE, FONT, GRID, INK, PAGE, SERIES, SOFT } from "./theme.ts";
import { ticksOf } from "./ticks.ts";

const text = (size: number, color = INK.light) => ({ color, fontFamily: FONT, fontSize: size });

export function optionOf(plot: PlotSpec, layout: Layout): EChartsCoreOption {
  const { width, left, right, top, plotHeight, notes, notesTop } = layout;
  const shown = plot.series.map((series) => ({ ...series, points: visiblePoints(plot, series) }));
  const points = shown.flatMap((series) => series.points);
  // Error bars lie along the axis of the measurement, which is y, unless y has names.
  const isSideways = plot.y.kind === "category";
  const ends = points.flatMap(({ low, high }) => [low, high]).filter((end) => end !== undefined);
  return {
    animation: false,
    textStyle: text(12),
    title: [
      {
        text: plot.title,
        left: MARGIN,
        top: 12,
        padding: 0,
        textStyle: { ...text(14), fontWeight: 600, width: width - 2 * MARGIN, overflow: "truncate" },
      },
      {
        text: notes,
        left: MARGIN,
        top: notesTop,
        padding: 0,
        textStyle: { ...text(11, SOFT.light), fontWeight: 400, lineHeight: NOTE_LINE },
      },
    ],
    legend: {
      data: legendNames(plot).map((name) => legendEntry(plot, name)),
      left: MARGIN,
      right: MARGIN,
      top: TITLE_HEIGHT,
      padding: 0,
      itemGap: LEGEND_GAP,
      itemHeight: 10,
      itemWidth: 22,
      height: LEGEND_ROW * 4,
      textStyle: text(12),
    },
    tooltip: { trigger: "item", textStyle: { fontFamily: FONT, fontSize: 12 } },
    grid: {
      left,
      right,
      top,
      height: plotHeight,
      show: true,
      borderColor: EDGE.light,
      backgroundColor: "none",
      outerBoundsMode: "none",
    },
    xAxis: axisOf(plot.x, [...points.map(({ x }) => x), ...(isSideways ? ends : [])], false),
    yAxis: axisOf(plot.y, [...points.map(({ y }) => y), ...(isSideways ? [] : ends)], true),
    series: seriesOf(plot, shown, layout),
  };
}

/** Lines without marks, which ECharts would show with one. */
const LINE_ICON = "path://M0 0h22v2h-22z";
const BROKEN_LINE_ICON = "path://M0 0h6v2h-6zM8 0h6v2h-6zM16 0h6v2h-6z";

function legendEntry({ series }: PlotSpec, name: string): object {
  const of = series.find((each) => each.name === name);
  const isBare = of?.kind === "reference" || (of?.kind === "line" && of.marked === false);
  return isBare ? { name, icon: of?.light ? BROKEN_LINE_ICON : LINE_ICON } : { name };
}

function axisOf(axis: PlotAxis, values: readonly number[], isVertical: boolean): object {
  const common = {
    name: axisTitle(axis),
    nameLocation: "middle",
    nameGap: isVertical ? 54 : 32,
    nameTextStyle: text(12, SOFT.light),
    axisLine: { show: false },
    axisTick: { show: false },
    axisLabel: { ...text(12), margin: 8, hideOverlap: true },
    splitLine: { show: true, lineStyle: { color: GRID.light } },
  };
  switch (axis.kind) {
    case "category":
      return {
        ...common,
        type: "category",
        data: axis.categories,
        inverse: isVertical,
        name: isVertical ? "" : common.name,
        axisLabel: { ...common.axisLabel, interval: 0 },
        splitLine: { show: false },
      };
    case "value": {
      const { low, high, at, label } = ticksOf(axis, values);
      return {
        ...common,
        type: axis.log ? "log" : "value",
        min: low,
        max: high,
        axisLabel: { ...common.axisLabel, customValues: at, formatter: label },
        axisTick: { show: false, customValues: at },
      };
    }
    default:
      return assertNever(axis, "kind of axis");
  }
}

function seriesOf(plot: PlotSpec, shown: readonly PlotSeries[], layout: Layout): object[] {
  const groups = [...new Set(shown.map(({ group }, k) => group ?? `series ${k}`))];
  return shown.flatMap((series, k) => {
    const colour = SERIES[groups.indexOf(series.group ?? `series ${k}`) % SERIES.length] ?? INK;
    return [drawn(plot, series, colour.light, layout), ...errorBars(plot, series, colour.light)];
  });
}

/** What is compared with lies below what is shown. */
const common = ({ kind, name }: PlotSeries) => ({
  name,
  emphasis: { disabled: true },
  z: kind === "reference" ? 2 : 3,
});

function drawn(plot: PlotSpec, series: PlotSeries, colour: string, layout: Layout): object {
  const { kind, points, light = false, marked = true } = series;
  const stroke = { color: colour, width: kind === "reference" ? 1.5 : 2, type: light ? "dashed" : "solid" };
  const filled = { color: light ? PAGE.light : colour, borderColor: colour, borderWidth: light ? 1.4 : 0 };
  switch (kind) {
    case "line":
    case "reference":
      return {
        ...common(series),
        type: "line",
        data: points.map((point) => datum(point)),
        symbol: kind === "line" && marked ? "circle" : "none",
        symbolSize: 6,
        lineStyle: stroke,
        itemStyle: filled,
        ...besideThePlot(points, layout),
      };
    case "points":
      return {
        ...common(series),
        type: "scatter",
        data: points.map((point) => ({ ...datum(point), ...(point.emphasis ? { symbolSize: 13 } : {}) })),
        symbolSize: 8,
        itemStyle: { ...filled, ...(light ? { color: "none" } : {}) },
        ...besideThePlot(points, layout),
      };
    case "bars":
      return {
        ...common(series),
        type: "bar",
        data: points.map((point) => datum(point)),
        barMaxWidth: 24,
        barGap: "15%",
        barCategoryGap: "22%",
        itemStyle: { ...filled, borderRadius: 1 },
        label: {
          show: points.some(({ label }) => label !== undefined),
          position: plot.y.kind === "category" ? "right" : "top",
          formatter: labelOf(points),
          ...text(11),
          textBorderColor: PAGE.light,
          textBorderWidth: 3,
        },
      };
    default:
      return assertNever(kind, "kind of series");
  }
}

const datum = ({ x, y, emphasis }: PlotPoint): { value: number[]; label?: object } => ({
  value: [x, y],
  ...(emphasis ? { label: { fontWeight: 600 } } : {}),
});

const labelOf =
  (points: readonly PlotPoint[]) =>
  ({ dataIndex }: { readonly dataIndex: number }): string =>
    points[dataIndex]?.label ?? "";

/** The labels of points are in a column at the right, one below the other, each with a line to its point. */
function besideThePlot(points: readonly PlotPoint[], { width, right }: Layout): object {
  if (points.every(({ label }) => label === undefined)) return {};
  return {
    label: {
      show: true,
      position: "right",
      formatter: labelOf(points),
      ...text(11),
      lineHeight: 15,
      padding: [0, 0, 0, 4],
    },
    labelLine: { show: true, lineStyle: { color: SOFT.light, width: 1, opacity: 0.6 } },
    labelLayout: { x: width - right + 12, align: "left", moveOverlap: "shiftY" },
  };
}

function errorBars({ y: vertical }: PlotSpec, { points, name }: PlotSeries, colour: string): object[] {
  const known = points.filter(({ low, high }) => low !== undefined || high !== undefined);
  if (known.length === 0) return [];
  const isSideways = vertical.kind === "category";
  const place = ({ x, y }: PlotPoint, value: number): number[] => (isSideways ? [value, y] : [x, value]);
  return [
    {
      name,
      type: "line",
      silent: true,
      showSymbol: false,
      lineStyle: { color: colour, width: 1 },
      data: known.flatMap((point) => {
        const middle = isSideways ? point.x : point.y;
        return [place(point, point.low ?? middle), place(point, point.high ?? middle), ["-", "-"]];
      }),
    },
  ];
}
