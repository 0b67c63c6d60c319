/** Walking a study's space: keys, neighbours, enumeration. */

import type { Random } from "@evolver/base";
import type { Point, Space } from "./point.ts";

/** Equal for equal points: the values in the order of the axes. */
export function pointKey(space: Space, point: Point): string {
  return space.axes.map(({ name }) => `${name}=${point[name]}`).join(" ");
}

/** Why a point is none of the space: an axis missing, an unknown value, or what the study says; null if it is. */
export function whyNotInSpace(space: Space, point: Point): string | null {
  for (const axis of space.axes) {
    const value = point[axis.name];
    if (value === undefined) return `It has no ${axis.name}.`;
    if (!axis.values.includes(value))
      return `${axis.name} is ${value}, and must be one of ${axis.values.join(", ")}.`;
  }
  const unknown = Object.keys(point).find((name) => !space.axes.some((axis) => axis.name === name));
  return unknown === undefined ? space.whyInvalid(point) : `There is no axis ${unknown}.`;
}

/** How many points the axes span, valid or not. */
export function spaceSize(space: Space): number {
  return space.axes.reduce((size, axis) => size * axis.values.length, 1);
}

/** The point of an index in the order of the axes, the last axis fastest. */
export function pointAt(space: Space, index: number): Point {
  const point: Record<string, number | string> = {};
  let rest = index;
  for (const axis of space.axes.toReversed()) {
    point[axis.name] = axis.values[rest % axis.values.length] as number | string;
    rest = Math.floor(rest / axis.values.length);
  }
  return ordered(space, point);
}

/** The same point with one value changed. */
export function withValue(point: Point, axis: string, value: number | string): Point {
  return { ...point, [axis]: value };
}

/** Below this size every point is looked at; above, points are drawn until one fits. */
const ENUMERABLE = 100_000;
const DRAWS = 20_000;

/** A uniformly random valid point whose key is not in `seen`; null if none is left (or none was found). */
export function drawUnseen(space: Space, seen: ReadonlySet<string>, random: Random): Point | null {
  const size = spaceSize(space);
  const fits = (point: Point): boolean =>
    !seen.has(pointKey(space, point)) && space.whyInvalid(point) === null;
  for (let i = 0; i < (size > ENUMERABLE ? DRAWS : 64); i++) {
    const point = pointAt(space, random.below(size));
    if (fits(point)) return point;
  }
  if (size > ENUMERABLE) return null;
  const left: Point[] = [];
  for (let i = 0; i < size; i++) {
    const point = pointAt(space, i);
    if (fits(point)) left.push(point);
  }
  return left.length === 0 ? null : random.pick(left);
}

function ordered(space: Space, point: Point): Point {
  return Object.fromEntries(space.axes.map(({ name }) => [name, point[name] as number | string]));
}
