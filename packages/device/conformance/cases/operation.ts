/**
 * Makes a case of one operation: on values of lanes, beside a literal, beside a scalar parameter, and on values that
 * the whole launch shares, since devices compile these differently.
 */

import { buffer, f32, i32, kernel, u32 } from "@evolver/kernel";
import type { Kernel, WordType, Operand, Params, ScalarOf } from "@evolver/kernel";
import {
  array,
  launch,
  type Capability,
  type KernelCase,
  type Launched,
  type Rule,
  type Target,
} from "../case.ts";
import type { AnyTypedArray } from "@evolver/device";

export const TYPES = { f32, i32, u32 } as const;

type Allowed = ReturnType<NonNullable<Rule["tolerance"]>>;

interface Options {
  readonly needs?: readonly Capability[];
  /** Results of ±0 may have either sign. */
  readonly zeros?: boolean;
  readonly findings?: Launched["findings"];
  /** What is allowed at a (first) operand; absent: nothing. */
  readonly tolerance?: (target: Target) => ((a: number) => Allowed) | undefined;
}

export interface Unary<T extends WordType, R extends WordType> extends Options {
  readonly name: string;
  readonly from: T;
  readonly to: R;
  readonly values: readonly number[];
  apply(a: ScalarOf<T>): ScalarOf<R>;
  expect(a: number): number;
}

export interface Binary<T extends WordType, R extends WordType> extends Options {
  readonly name: string;
  readonly from: T;
  readonly to: R;
  readonly values: readonly number[];
  /** Right operands that are also written as literals. */
  readonly literals: readonly number[];
  /** Of scalar parameters. */
  readonly scalars: readonly [number, number];
  apply(a: ScalarOf<T>, b: Operand<T>): ScalarOf<R>;
  expect(a: number, b: number): number;
}

function rule(
  values: AnyTypedArray,
  { zeros, tolerance }: Options,
  target: Target,
  operand: (i: number) => number,
): Rule {
  const allowed = tolerance?.(target);
  return {
    values,
    ...(zeros === undefined ? {} : { zeros }),
    ...(allowed === undefined ? {} : { tolerance: (_, i) => allowed(operand(i)) }),
  };
}

const optional = ({ needs }: Options): Pick<KernelCase, "needs"> => (needs === undefined ? {} : { needs });

export function unary<T extends WordType, R extends WordType>(operation: Unary<T, R>): KernelCase {
  const { name, from, to, values, findings } = operation;
  return {
    name,
    ...optional(operation),
    prepare(target) {
      const program = kernel(
        "unary",
        {
          params: {
            x: buffer(TYPES[from] as typeof f32),
            p: TYPES[from] as typeof f32,
            n: u32,
            lanes: buffer(TYPES[to] as typeof f32, "write"),
            one: buffer(TYPES[to] as typeof f32, "write"),
          },
          workgroup: [target.width],
        },
        ({ x, p, n, lanes, one }, gpu) => {
          const i = gpu.globalId.x;
          const apply = operation.apply as unknown as (a: typeof p) => typeof p;
          gpu.if(i.lt(n), () => lanes.set(i, apply(x.get(i))));
          gpu.if(i.eq(0), () => one.set(0, apply(p)));
        },
      ) as Kernel<Params>;
      const n = values.length;
      const p = values[n >> 1] as number;
      const results = (length: number, operand: (i: number) => number): Rule =>
        rule(
          array(TYPES[to], length, (i) => operation.expect(operand(i))),
          operation,
          target,
          operand,
        );
      return launch({
        kernel: program,
        workgroups: Math.ceil(n / target.width),
        args: {
          x: array(TYPES[from], n, (i) => values[i] as number),
          p,
          n,
          lanes: array(TYPES[to], n),
          one: array(TYPES[to], 1),
        },
        expected: {
          lanes: results(n, (i) => values[i] as number),
          one: results(1, () => p),
        },
        ...(findings === undefined ? {} : { findings }),
      });
    },
  };
}

export function binary<T extends WordType, R extends WordType>(operation: Binary<T, R>): KernelCase {
  const { name, from, to, values, findings } = operation;
  // As the type holds them.
  const exact = (list: readonly number[]): readonly number[] => [
    ...array(TYPES[from], list.length, (i) => list[i] as number),
  ];
  const [p, q] = exact(operation.scalars) as [number, number];
  return {
    name,
    ...optional(operation),
    prepare(target) {
      const literals = exact(operation.literals).filter(
        (x) =>
          from !== "f32" || target.capabilities.has("specialLiterals") || (Number.isFinite(x) && x !== 0),
      );
      const operand = TYPES[from] as typeof f32;
      const result = TYPES[to] as typeof f32;
      const program = kernel(
        "binary",
        {
          params: {
            x: buffer(operand),
            y: buffer(operand),
            p: operand,
            q: operand,
            n: u32,
            lanes: buffer(result, "write"),
            literal: buffer(result, "write"),
            scalar: buffer(result, "write"),
            one: buffer(result, "write"),
          },
          workgroup: [target.width],
        },
        ({ x, y, p, q, n, lanes, literal, scalar, one }, gpu) => {
          const i = gpu.globalId.x;
          const apply = operation.apply as unknown as (a: typeof p, b: typeof p | number) => typeof p;
          gpu.if(i.lt(n), () => {
            const a = x.get(i);
            lanes.set(i, apply(a, y.get(i)));
            for (const [k, value] of literals.entries()) literal.set(n.mul(k).add(i), apply(a, value));
            scalar.set(i, apply(a, p));
          });
          gpu.if(i.eq(0), () => one.set(0, apply(p, q)));
        },
      ) as Kernel<Params>;
      const pairs = values.flatMap((a) => values.map((b) => [a, b] as const));
      const n = pairs.length;
      const first = (i: number): number => (pairs[i] as readonly [number, number])[0];
      const second = (i: number): number => (pairs[i] as readonly [number, number])[1];
      const results = (length: number, expect: (i: number) => number): Rule =>
        rule(array(result, length, expect), operation, target, (i) => first(i % n));
      return launch({
        kernel: program,
        workgroups: Math.ceil(n / target.width),
        args: {
          x: array(operand, n, first),
          y: array(operand, n, second),
          p,
          q,
          n,
          lanes: array(result, n),
          literal: array(result, n * literals.length),
          scalar: array(result, n),
          one: array(result, 1),
        },
        expected: {
          lanes: results(n, (i) => operation.expect(first(i), second(i))),
          literal: results(n * literals.length, (i) =>
            operation.expect(first(i % n), literals[Math.floor(i / n)] as number),
          ),
          scalar: results(n, (i) => operation.expect(first(i), p)),
          one: results(1, () => operation.expect(p, q)),
        },
        ...(findings === undefined ? {} : { findings }),
      });
    },
  };
}
