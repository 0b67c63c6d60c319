/**
 * Reads NVIDIA's machine code (sm_90) out of ELF files, as far as tests need it: which instructions stand in a loop. Each
 * instruction is 16 bytes; its lowest 12 bits say what it is. NVIDIA does not document this; the numbers are those that
 * its disassembler prints.
 */

const OPCODES: ReadonlyMap<number, string> = new Map([
  [0x984, "LDS"],
  [0x388, "STS"],
  [0x981, "LDG"],
  [0x9a8, "ATOMG"],
  [0x98e, "RED"],
  [0x38c, "ATOMS"],
  [0x98c, "ATOMS"],
  [0x210, "IADD3"],
  [0x212, "LOP3"],
  [0x947, "BRA"],
]);

interface Instruction {
  /** As the disassembler calls it ("LDS.128"); the number in hexadecimal where it is not in the table. */
  readonly name: string;
  /** Where a branch goes, as the index of an instruction; null for others. */
  readonly target: number | null;
}

/** The instructions of the only kernel in the file. */
function decode(elf: Uint8Array): Instruction[] {
  const view = new DataView(elf.buffer, elf.byteOffset, elf.byteLength);
  const word = (at: number): number => Number(view.getBigUint64(at, true));
  const [headers, stride, count] = [word(40), view.getUint16(58, true), view.getUint16(60, true)];
  const sections = Array.from({ length: count }, (_, k) => headers + k * stride);
  const names = word((sections[view.getUint16(62, true)] as number) + 24);
  const nameOf = (section: number): string => {
    const start = names + view.getUint32(section, true);
    return new TextDecoder().decode(elf.subarray(start, elf.indexOf(0, start)));
  };
  const texts = sections.filter((section) => nameOf(section).startsWith(".text."));
  if (texts.length !== 1) throw new Error(`there are ${texts.length} kernels in the file, not one`);
  const [from, bytes] = [word((texts[0] as number) + 24), word((texts[0] as number) + 32)];
  return Array.from({ length: bytes / 16 }, (_, k) => {
    const [low, high] = [view.getUint32(from + 16 * k, true), view.getInt32(from + 16 * k + 4, true)];
    const plain = OPCODES.get(low & 0xfff) ?? `0x${(low & 0xfff).toString(16)}`;
    const size = (view.getUint32(from + 16 * k + 8, true) >> 9) & 7;
    const name = plain === "LDS" && size > 4 ? `LDS.${8 << (size - 2)}` : plain;
    // A branch's distance from the instruction after it: 8 bits at 16, the rest from 34 on, in units of 4 bytes.
    const distance = (high >> 2) * 256 + ((low >>> 16) & 0xff);
    return { name, target: name === "BRA" ? k + 1 + distance / 4 : null };
  });
}

/** The instructions of each loop, by name: from where a branch goes back to, up to the branch. */
export function loopsOf(elf: Uint8Array): ReadonlyMap<string, number>[] {
  const all = decode(elf);
  return all.flatMap(({ target }, at) => {
    if (target === null || target >= at) return [];
    const counts = new Map<string, number>();
    for (const { name } of all.slice(target, at + 1)) counts.set(name, (counts.get(name) ?? 0) + 1);
    return [counts];
  });
}
