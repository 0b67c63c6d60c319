import { kernel, buffer, f16, bf16, f32, u32, i32, fma, sqrt, floor, ceil, round, trunc, min, max, abs, select, math } from "@evolver/kernel";
import { openSim, openCpu, openDevice } from "@evolver/device";
import { useSwiftShader } from "../../../../test/support/swiftshader.ts";
const N = 256 * 40;
const OPS = 20;
const mk = (t: any) => kernel(`ops_${t.type}`, { params: { a: buffer(t), b: buffer(t), c: buffer(t), x: buffer(f32), n: buffer(i32), out: buffer(t, "read_write"), flags: buffer(u32, "read_write"), y: buffer(f32, "read_write") }, workgroup: [64] },
  ({ a, b, c, x, n, out, flags, y }: any, gpu) => {
    const i = gpu.globalId.x;
    const A = a.get(i), B = b.get(i), C = c.get(i);
    const to = (v: any) => (t.type === "f16" ? v.toF16() : v.toBF16());
    const results = [A.add(B), A.sub(B), A.mul(B), A.div(B), fma(A, B, C), min(A, B), max(A, B), A.neg(), abs(A), sqrt(A), floor(A), ceil(A), round(A), trunc(A), select(A.lt(B), A, B), to(x.get(i)), to(n.get(i)), to(n.get(i).toU32()), t.type === "f16" ? A.toBF16().toF16() : A.toF16().toBF16(), gpu.subgroup.sum(A.mul(0.125))];
    results.forEach((r, k) => out.set(i.mul(OPS).add(k), r));
    const bit = (cond: any, k: number) => select(cond, 1 << k, gpu.constant(u32, 0));
    flags.set(i, bit(A.lt(B), 0).or(bit(A.le(B), 1)).or(bit(A.gt(B), 2)).or(bit(A.ge(B), 3)).or(bit(A.eq(B), 4)).or(bit(A.ne(B), 5)).or(bit(A.toBool(), 6)).or(A.toI32().and(0xffff).toU32().shl(8)));
    y.set(i, A.toF32());
  });
let seed = 12345; const rnd = () => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32);
for (const t of [f16, bf16]) {
  const isF16 = t.type === "f16";
  const special = isF16 ? [0, 0x8000, 1, 2, 0x3ff, 0x400, 0x401, 0x3c00, 0x3c01, 0x3bff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x8001, 0x83ff] : [0, 0x8000, 1, 2, 0x7f, 0x80, 0x81, 0x3f80, 0x3f81, 0x3f7f, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x8001, 0x807f];
  const pick = () => (rnd() < 0.2 ? special[Math.floor(rnd() * special.length)]! : rnd() < 0.6 ? Math.floor(rnd() * 65536) : isF16 ? 0x3000 + Math.floor(rnd() * 0x1800) + (rnd() < 0.5 ? 0x8000 : 0) : 0x3e00 + Math.floor(rnd() * 0x300) + (rnd() < 0.5 ? 0x8000 : 0));
  const a = Uint16Array.from({ length: N }, pick), b = Uint16Array.from({ length: N }, pick), c = Uint16Array.from({ length: N }, pick);
  const x = Float32Array.from({ length: N }, () => (rnd() < 0.5 ? math.bitsToF32(Math.floor(rnd() * 2 ** 32)) : math.bitsToF32((Math.floor(rnd() * 65536) << 16) | (rnd() < 0.5 ? 0x8000 : Math.floor(rnd() * 65536)))));
  for (let k = 0; k < 4000; k++) x[k] = (isF16 ? math.f16FromBits : math.bf16FromBits)(a[k]!) * (1 + (rnd() < .5 ? 2 ** -(isF16 ? 11 : 8) : 2 ** -20));
  const n = Int32Array.from({ length: N }, () => { const s = Math.floor(rnd() * 32); const v = Math.floor(rnd() * 2 ** 32) >> s; return rnd() < 0.4 ? (v & (-1 << Math.max(0, 31 - s - (isF16 ? 12 : 9)))) + Math.floor(rnd() * 3) - 1 : v; });
  const run = async (dev: any) => {
    const p = await dev.compile(mk(t).build({ subgroup: 4 }));
    const B = (e: string, d: any) => dev.createBuffer(e, d);
    const out = B(t.type, N * OPS), flags = B("u32", N), y = B("f32", N);
    await p.run({ workgroups: N / 64, args: { a: B(t.type, a), b: B(t.type, b), c: B(t.type, c), x: B("f32", x), n: B("i32", n), out, flags, y } });
    const r = [await out.read(), await flags.read(), await y.read()];
    await dev.close();
    return r;
  };
  const want: any = await run(openSim({ subgroup: 4, counters: false }));
  const devices: [string, any][] = [];
  if (process.argv.includes("cpu")) devices.push(["cpu", await openCpu({ subgroup: 4 } as never)]);
  if (process.argv.includes("webgpu")) { useSwiftShader(); devices.push(["webgpu", await openDevice("webgpu")]); }
  const isNaNBits = (v: number) => (isF16 ? (v & 0x7fff) > 0x7c00 : (v & 0x7fff) > 0x7f80);
  for (const [name, dev] of devices) {
    const got: any = await run(dev);
    const bad = new Map<number, string[]>();
    for (let k = 0; k < N * OPS; k++) if (got[0][k] !== want[0][k] && !(isNaNBits(got[0][k]) && isNaNBits(want[0][k]))) {
      const i = Math.floor(k / OPS); const op = k % OPS;
      (bad.get(op) ?? bad.set(op, []).get(op)!).push(`${a[i]!.toString(16)},${b[i]!.toString(16)},${c[i]!.toString(16)},x=${x[i]},n=${n[i]}: want ${want[0][k].toString(16)} got ${got[0][k].toString(16)}`);
    }
    console.log(t.type, name, bad.size === 0 ? "all equal" : [...bad].map(([op, l]) => `${op}: ${l.length} ${l.slice(0, 3).join(" ; ")}`).join("\n"));
    console.log("flags differ", want[1].filter((v: number, i: number) => v !== got[1][i]).length, "y differ", want[2].filter((v: number, i: number) => !Object.is(v, got[2][i]) ).length);
  }
}
