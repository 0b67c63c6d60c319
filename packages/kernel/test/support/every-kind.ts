/** A kernel with a node of every kind. */

import { atomic, buffer, f32, kernel, u32 } from "@evolver/kernel";

export const everyKind = kernel(
  "everyKind",
  {
    params: { n: u32, x: buffer(f32), y: buffer(f32, "read_write"), counter: buffer(atomic(u32)) },
    workgroup: [64],
  },
  ({ n, x, y, counter }, gpu) => {
    const tile = gpu.shared(f32, 64, "tile");
    const ready = gpu.phaseBarriers({ count: 2, arrivals: 32, bytes: 128, name: "ready" });
    const total = gpu.var(f32, 0);
    const last = gpu.var(u32);
    gpu.comment("the rows");
    gpu.for({ from: 0, to: n, unroll: 2 }, (i) => {
      gpu.if(x.get(i).lt(0), () => gpu.break());
      gpu.if(x.get(i).gt(9), () => gpu.continue());
      total.add(x.getVec(4, i.mul(4)).x);
      last.set(i);
    });
    gpu.while(
      () => total.get().lt(1),
      () => total.add(1),
    );
    const copy = (): void => {
      gpu.copies.start({ to: tile, at: [gpu.lane], from: x, index: [gpu.lane], width: 1, active: n.lt(9) });
      gpu.copies.commit({ bytes: 128 });
      gpu.copies.await(1);
      gpu.subgroup.barrier();
      ready.arriveAfterCopies(n.and(1));
      ready.wait(0, 1);
    };
    gpu.roles([{ name: "copy", subgroups: 1, body: copy }]);
    gpu.barrier();
    counter.set(0, 1);
    const before = counter.get(0).add(counter.add(0, 1));
    y.set(before, gpu.uniformLoad(tile, 0).add(gpu.subgroup.sum(total.get())));
    y.setVec(8, x.getVec(2, 0));
  },
);
