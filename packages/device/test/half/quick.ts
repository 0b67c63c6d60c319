import { kernel, buffer, f16, bf16, f32, fma, math } from "@evolver/kernel";
import { openSim, openCpu, toF16Bits, fromF16Bits, fromBF16Bits } from "@evolver/device";
const k = kernel("k", { params: { x: buffer(f16), y: buffer(bf16, "read_write"), z: buffer(f16, "read_write") , w: buffer(f32,"read_write")}, workgroup: [64] }, ({ x, y, z, w }, gpu) => {
  const i = gpu.globalId.x;
  const a = x.get(i);
  const s = gpu.shared(bf16, 64);
  s.set(i, a.toBF16().mul(3));
  gpu.barrier();
  y.set(i, fma(s.get(gpu.localIndex.xor(1)), 1.5, s.get(i)));
  z.set(i.xor(3), gpu.subgroup.sum(a.div(3)).add(i.toF16()));
  gpu.if(i.lt(8), () => { const v = x.getVec(8, i.mul(8)); z.setVec(i.mul(8), v.mul(v).add(1)); });
  w.set(i, i.mul(0x1010101).toBF16().toF32());
});
const out: unknown[] = [];
for (const dev of [openSim({ onFinding: "collect" }), ...(process.argv[2] === "cpu" ? [await openCpu({subgroup: 32} as never)] : [])]) {
  const p = await dev.compile(k);
  const xs = toF16Bits(Array.from({ length: 64 }, (_, i) => i / 7));
  const x = dev.createBuffer("f16", xs), y = dev.createBuffer("bf16", 64), z = dev.createBuffer("f16", 64), w = dev.createBuffer("f32", 64);
  const r = await p.run({ workgroups: 1, args: { x, y, z, w } });
  out.push([fromBF16Bits(await y.read()), fromF16Bits(await z.read()), await w.read()].join(" | "));
  console.log(out.at(-1), r.findings.map((f) => f.message).slice(0,3), r.counters?.memory);
  await dev.close();
}
console.log(out.every((o) => o === out[0]));
