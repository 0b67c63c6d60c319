import { kernel, buffer, f16, bf16, f32, fma, emit, sqrt, floor, min, max, abs, select } from "@evolver/kernel";
import { writeFileSync } from "node:fs";
const mk = (name: string, t: any, u: any) => kernel(name, { params: { x: buffer(t), y: buffer(t, "read_write"), z: buffer(u, "read_write"), w: buffer(f32, "read_write") }, workgroup: [64] }, ({ x, y, z, w }: any, gpu) => {
  const i = gpu.globalId.x;
  const a = x.get(i) as any;
  const s = gpu.shared(t, 64) as any;
  const v = gpu.var(t, 0) as any;
  s.set(gpu.localIndex, a.mul(3).sub(1.5).neg());
  gpu.barrier();
  v.add(fma(s.get(gpu.localIndex.xor(1)), 1.5 as never, s.get(gpu.localIndex)));
  gpu.if(a.lt(2).or(a.ge(7)), () => v.set(sqrt(abs(v.get() as any)).div(a)));
  y.set(i, select(a.ne(0), min(max(v.get(), floor(a)), 100), -0));
  y.set(i, gpu.subgroup.sum(a.div(3)).add(gpu.subgroup.max(a)).add(gpu.subgroup.inclusiveSum(a)).add(gpu.subgroup.exclusiveSum(a)).add(gpu.subgroup.shuffleXor(a, 1)).add(gpu.subgroup.shuffle(a, i.and(3))));
  z.set(i, (u.type === "f16" ? a.toF16() : a.toBF16()).mul(NaN).add(Infinity));
  gpu.if(i.lt(8), () => { const q = x.getVec(8, i.mul(8)); y.setVec(i.mul(8), q.mul(q).add(1)); y.setVec(i.mul(4), x.getVec(4, i.mul(4))); y.setVec(i.mul(2), x.getVec(2, i.mul(2)));  });
  w.set(i, i.mul(0x1010101).toBF16().toF32().add(a.toF32()));
}).build({ subgroup: 32 });
for (const [n, ir] of [["kf", mk("kf", f16, bf16)], ["kb", mk("kb", bf16, f16)]] as const) for (const t of ["cuda", "hip", "wgsl", "js"] as const) {
  try {
  const e = emit(ir, t);
  writeFileSync(`/tmp/${n}.${{cuda:"cu",hip:"hip",wgsl:"wgsl",js:"mjs"}[t]}`, e.source);
  console.log(n, t, e.lowering.entries.map((x) => `${x.request} → ${x.became}${x.fallback ? " !" : ""}`)); } catch (err) { console.log(n, t, String(err).slice(0, 300)); }
}
