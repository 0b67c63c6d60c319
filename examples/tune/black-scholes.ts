/**
 * Prices of European options by the formula of Black and Scholes, after the sample of that name in NVIDIA's CUDA samples: for each
 * option five numbers of arithmetic and memory, so that what decides is how the numbers are read and how the normal
 * distribution is worked out.
 *
 *     npx evolver evolve examples/tune/black-scholes.ts
 */

import {
  abs,
  buffer,
  exp,
  f32,
  fma,
  kernel,
  log,
  select,
  sqrt,
  u32,
  Vec,
  type F32,
  type Gpu,
  type Round,
} from "@evolver/kernel";

const RISKLESS = 0.02;
const VOLATILITY = 0.3;

/** Abramowitz and Stegun 26.2.17: the normal distribution to within 7.5e-8. */
const NORMAL = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429] as const;

function normalDistribution(d: number, round: Round): number {
  const k = round(1 / round(1 + round(0.2316419 * Math.abs(d))));
  const density = round(Math.exp(round(-0.5 * round(d * d))) / Math.sqrt(2 * Math.PI));
  const polynomial = NORMAL.reduceRight((sum, c) => round(round(sum * k) + c), 0);
  const tail = round(round(density * k) * polynomial);
  return d > 0 ? round(1 - tail) : tail;
}

export const blackScholes = kernel(
  "blackScholes",
  {
    params: {
      price: buffer(f32),
      strike: buffer(f32),
      years: buffer(f32),
      call: buffer(f32, "write"),
      put: buffer(f32, "write"),
      n: u32,
    },
    tune: {
      width: [64, 128, 256, 512],
      /** Options of an invocation that lie side by side and are read at once. */
      vector: [1, 2, 4],
      /** Groups of them that an invocation takes, a workgroup's width apart. */
      groups: [1, 2, 4],
      /** Who has neighbouring options: neighbouring invocations, or one invocation after another turn. */
      order: ["scattered", "neighbours"],
    },
    sizes: { n: { value: 2 ** 24, multipleOf: 4 } },
    workgroup: ({ tune }) => [tune.width],
    example: ({ n }, { width, vector, groups }) => ({
      workgroups: Math.ceil(n / (width * vector * groups)),
      args: {
        price: { length: n, min: 5, max: 30 },
        strike: { length: n, min: 1, max: 100 },
        years: { length: n, min: 0.25, max: 10 },
        call: n,
        put: n,
        n,
      },
    }),
    reference({ price, strike, years, n }, round) {
      const [call, put] = [new Float64Array(n), new Float64Array(n)];
      for (let i = 0; i < n; i++) {
        const [s, x, t] = [price[i]!, strike[i]!, years[i]!];
        const spread = round(VOLATILITY * round(Math.sqrt(t)));
        const drift = round(round(RISKLESS + 0.5 * VOLATILITY * VOLATILITY) * t);
        const d1 = round(round(round(Math.log(round(s / x))) + drift) / spread);
        const d2 = round(d1 - spread);
        const [n1, n2] = [normalDistribution(d1, round), normalDistribution(d2, round)];
        const discounted = round(x * round(Math.exp(-RISKLESS * t)));
        call[i] = round(round(s * n1) - round(discounted * n2));
        put[i] = round(round(discounted * round(1 - n2)) - round(s * round(1 - n1)));
      }
      return { call, put };
    },
  },
  ({ price, strike, years, call, put, n }, gpu, { width, vector, groups, order }) => {
    const base = gpu.workgroupId.x.mul(width * vector * groups);
    for (let group = 0; group < groups; group++) {
      const at =
        order === "neighbours"
          ? base.add(group * width * vector).add(gpu.localIndex.mul(vector))
          : base.add(gpu.localIndex.mul(vector * groups)).add(group * vector);
      gpu.if(at.lt(n), () => {
        const read = (from: typeof price): readonly F32[] =>
          vector === 1 ? [from.get(at)] : from.getVec(vector, at).components;
        const [prices, strikes, times] = [read(price), read(strike), read(years)];
        const worth = prices.map((s, k) => option(gpu, s, strikes[k] as F32, times[k] as F32));
        const write = (to: typeof call, values: readonly F32[]): void => {
          if (vector === 1) to.set(at, values[0] as F32);
          else to.setVec(at, new Vec(vector, values));
        };
        write(
          call,
          worth.map((each) => each.call),
        );
        write(
          put,
          worth.map((each) => each.put),
        );
      });
    }
  },
);

function option(gpu: Gpu, s: F32, x: F32, t: F32): { readonly call: F32; readonly put: F32 } {
  const spread = sqrt(t).mul(VOLATILITY);
  const d1 = fma(t, RISKLESS + 0.5 * VOLATILITY * VOLATILITY, log(s.div(x))).div(spread);
  const d2 = d1.sub(spread);
  const [n1, n2] = [distribution(gpu, d1), distribution(gpu, d2)];
  const discounted = x.mul(exp(t.mul(-RISKLESS)));
  const rest = (value: F32): F32 => value.neg().add(1);
  return {
    call: s.mul(n1).sub(discounted.mul(n2)),
    put: discounted.mul(rest(n2)).sub(s.mul(rest(n1))),
  };
}

function distribution(gpu: Gpu, d: F32): F32 {
  const k = gpu.constant(f32, 1).div(abs(d).mul(0.2316419).add(1));
  const density = exp(d.mul(d).mul(-0.5)).mul(1 / Math.sqrt(2 * Math.PI));
  const polynomial = NORMAL.reduceRight<F32>((sum, c) => fma(sum, k, c), gpu.constant(f32, 0));
  const tail = density.mul(k).mul(polynomial);
  return select(d.gt(0), tail.neg().add(1), tail);
}
