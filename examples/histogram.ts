/**
 * How often each byte stands in a text: counted with atomics, first per workgroup in shared memory, then in global memory.
 *
 *     npx node examples/histogram.ts
 */

import { openDevice, type Device, type DeviceId } from "@evolver/device";
import { atomic, buffer, kernel, u32 } from "@evolver/kernel";

/** Adds to bins how often each byte stands in data. */
export const byteHistogram = kernel(
  "byteHistogram",
  {
    params: { data: buffer(u32), bins: buffer(atomic(u32)) },
    workgroup: [256],
    example: { workgroups: 4, args: { data: 1000, bins: 256 } },
  },
  ({ data, bins }, gpu) => {
    const counts = gpu.shared(atomic(u32), 256);
    const i = gpu.globalId.x;
    counts.set(gpu.localIndex, 0);
    gpu.barrier();
    gpu.if(i.lt(data.length), () => {
      const word = data.get(i);
      for (let byte = 0; byte < 4; byte++) counts.add(word.shr(8 * byte).and(255), 1);
    });
    gpu.barrier();
    // 256 additions per workgroup in global memory, however long the text is.
    bins.add(gpu.localIndex, counts.get(gpu.localIndex));
  },
);

const sentence =
  "every kernel of an example is small enough that a person reads it once and understands it. ";

/** Counts the letters of a text, shows the most frequent ones, and returns all counts. */
export async function main(device: Device, text = sentence.repeat(40)): Promise<Uint32Array> {
  const bytes = new TextEncoder().encode(text);
  const words = new Uint32Array(Math.ceil(bytes.length / 4));
  new Uint8Array(words.buffer).set(bytes);

  const data = device.createBuffer("u32", words);
  const bins = device.createBuffer("u32", 256);
  const program = await device.compile(byteHistogram);
  const workgroups = Math.ceil(words.length / 256);
  const { counters } = await program.run({ workgroups, args: { data, bins } });

  const counts = await bins.read();
  const letters = [..."abcdefghijklmnopqrstuvwxyz"].map(
    (letter) => [letter, counts[letter.charCodeAt(0)] as number] as const,
  );
  const frequent = letters.sort(([, a], [, b]) => b - a).slice(0, 5);
  for (const [letter, count] of frequent) console.log(`${letter} ${"█".repeat(count / 20)} ${count}`);
  if (counters !== null)
    console.log(`atomics: ${counters.sharedAtomics} in shared memory, ${counters.globalAtomics} in global`);
  return counts;
}

if (import.meta.main !== false) {
  const device = await openDevice((process.argv[2] ?? "sim") as DeviceId);
  await main(device);
  await device.close();
}
