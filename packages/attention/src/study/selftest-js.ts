/** The judge of attention's self-tests in JavaScript: the same as the one in C++, beside this file. */

export const attentionJudgeJs = String.raw`
/** The keys from begin up to, not with, end are those that query row i sees. */
function visibleKeys(i) {
  const position = i + SEQ_K - SEQ_Q;
  const left = MASK === "window" ? LEFT : Infinity;
  const right = MASK === "full" ? Infinity : MASK === "causal" ? 0 : RIGHT;
  const begin = Math.min(Math.max(position - left, 0), SEQ_K);
  return [begin, Math.max(Math.min(position + right + 1, SEQ_K), begin)];
}

/** One row of plain attention; round is Math.fround for float, and nothing for double precision. */
function plainRow(q, k, v, [begin, end], round, firstDim = 0, firstKey = 0) {
  const keys = end - begin;
  const scores = [];
  for (let n = 0; n < keys; n++) {
    let sum = 0;
    for (let c = 0; c < DIM; c++) {
      const d = (c + firstDim) % DIM;
      sum = round(sum + round(q[d] * round(k[(begin + n) * DIM + d] * SCALE)));
    }
    scores.push(SOFTCAP > 0 ? round(SOFTCAP * round(Math.tanh(round(sum / SOFTCAP)))) : sum);
  }
  const largest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  // A float sum of many terms is added in blocks: in one sequence its error would grow with the number of keys.
  const BLOCK = 1024;
  let total = 0, blockTotal = 0;
  const o = new Array(DIM).fill(0), block = new Array(DIM).fill(0);
  for (let c = 0; c < keys; c++) {
    const n = (c + firstKey) % keys;
    const weight = round(Math.exp(round(scores[n] - largest)));
    blockTotal = round(blockTotal + weight);
    for (let d = 0; d < DIM; d++) block[d] = round(block[d] + round(weight * v[(begin + n) * DIM + d]));
    if ((c + 1) % BLOCK !== 0 && c + 1 !== keys) continue;
    total = round(total + blockTotal);
    for (let d = 0; d < DIM; d++) o[d] = round(o[d] + block[d]);
    blockTotal = 0;
    block.fill(0);
  }
  return { o: o.map((value) => round(value / total)), lse: round(largest + round(Math.log(total))) };
}

/** The rule: max |out - double| <= factor * max |plain float - double| + atol. A NaN never passes. */
function verify(q, k, v, o, lse) {
  const ORDERS = 8;
  const errors = () => ({ kernel: 0, plain: 0, rounding: 0, size: 0 });
  const take = (to, got, plains, want) => {
    const error = Math.abs(got - want);
    if (error > to.kernel || error !== error) to.kernel = error;
    for (const plain of plains) to.plain = Math.max(to.plain, Math.abs(plain - want));
    const rounded = Math.fround(want);
    const shift = Math.fround(0.3);
    to.rounding = Math.max(to.rounding, 2 * Math.abs(Math.fround(Math.fround(rounded + shift) - shift) - rounded));
    to.size = Math.max(to.size, Math.abs(want));
  };
  const report = (name, { kernel, plain, rounding, size }, limited) => {
    const factor = SOFTCAP > 0 ? 3 : 2;
    const atol = limited ? Math.min(rounding, size / 8192) : rounding;
    const allowed = Math.max(factor * plain + atol, (size * 4) / 16777216);
    console.log(name + ": largest error " + kernel.toPrecision(3) + ", allowed " + allowed.toPrecision(3));
    return kernel <= allowed;
  };
  const [errorsO, errorsLse] = [errors(), errors()];
  let finite = o.every(Number.isFinite);
  if (!finite) console.log("o: not every element is a finite number");
  const rows = BATCH * HEADS_Q * SEQ_Q;
  let checked = 0;
  for (let row = 0; row < rows; row += ROW_STEP, checked++) {
    const head = Math.floor(row / SEQ_Q);
    const group = Math.floor((head % HEADS_Q) / (HEADS_Q / HEADS_KV));
    const keyHead = Math.floor(head / HEADS_Q) * HEADS_KV + group;
    const query = q.subarray(row * DIM, (row + 1) * DIM);
    const keys = k.subarray(keyHead * SEQ_K * DIM, (keyHead + 1) * SEQ_K * DIM);
    const values = v.subarray(keyHead * SEQ_K * DIM, (keyHead + 1) * SEQ_K * DIM);
    const range = visibleKeys(row % SEQ_Q);
    const own = o.subarray(row * DIM, (row + 1) * DIM);
    if (range[0] === range[1]) {
      const right = lse[row] === -Infinity && own.every((x) => x === 0);
      if (!right) console.log("row " + row + " sees no key; its o must be 0 and its lse -infinity");
      finite = finite && right;
      continue;
    }
    const exact = plainRow(query, keys, values, range, (x) => x);
    const plains = [];
    for (let order = 0; order < ORDERS; order++)
      plains.push(plainRow(query, keys, values, range, Math.fround, order * 5, order * 3));
    for (let d = 0; d < DIM; d++) take(errorsO, own[d], plains.map((plain) => plain.o[d]), exact.o[d]);
    take(errorsLse, lse[row], plains.map((plain) => plain.lse), exact.lse);
  }
  console.log(checked + " of " + rows + " rows compared with plain attention in double precision");
  const right = report("o", errorsO, true);
  return report("lse", errorsLse, false) && right && finite;
}
`;
