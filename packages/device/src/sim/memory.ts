/**
 * Writes the JavaScript of memory accesses: one function for each memory, width and kind of access of a kernel, so
 * that each sees arrays of one type only. A function handles one request (an instruction of one subgroup): bounds,
 * counters, races, then the data.
 */

import { elementBytes } from "@evolver/kernel";
import type { AtomicNode, Memory } from "@evolver/kernel";
import {
  checkPrelude,
  each,
  guardChecks,
  perElement,
  readCheck,
  sameElementCheck,
  writeCheck,
} from "./checks.ts";
import type { CheckOptions } from "./checks.ts";
import { field, total } from "./counting.ts";

/** The register view that holds a type. */
export const VIEWS = { f32: "F", f16: "F", bf16: "F", i32: "I", u32: "U", bool: "I", index: "D" } as const;

/** What the accesses of all kernels share. `S` is a subgroup, `M` its active lanes and `n` their number. */
export function memoryPrelude(width: number): string {
  return `
let now=0,group=0,meet=0,launch=0,request=0,changes=0,serial=0,q1=0,q2=0,q3=0,q4=0,q5=0,q6=0,q7=0;
const W=${width},ok=new Uint8Array(W),act=new Uint8Array(W),bankSerial=new Int32Array(32),bankLoad=new Int32Array(32);
function sectors(A,o,M,n,stamps,shift){
  serial=(serial+1)|0;let count=0;
  for(let l=0;l<W;l++)if(n===W||M[l]!==0){const s=A[o+l]>>>shift;if(stamps[s]!==serial){stamps[s]=serial;count++}}
  return count}
function pairs(A,o,M,n,g,end,d){
  for(let l=g;l<end;l++){const p=l^d;if(p>l&&p<end&&(n===W||M[l]!==0&&M[p]!==0)&&A[o+l]!==A[o+p])return false}
  return true}
function pass(A,o,M,n,w,stamps,c,shift,g,end){
  serial=(serial+1)|0;let most=0;
  for(let l=g;l<end;l++)if(n===W||M[l]!==0){
    const first=A[o+l]>>>shift;
    for(let i=first;i<first+w;i++)if(stamps[i]!==serial){
      stamps[i]=serial;const b=i&31;
      if(bankSerial[b]!==serial){bankSerial[b]=serial;bankLoad[b]=0}
      const load=++bankLoad[b];if(load>most)most=load}}
  if(most>0){c[${field("passes")}]+=most;c[${field("conflicts")}]+=most-1}}
function banks(A,o,M,n,w,stamps,c,shift){
  const per=32/w,wide=w===1?32:2*per;
  for(let g=0;g<W;g+=wide){
    const end=g+wide<W?g+wide:W;
    if(w===1||pairs(A,o,M,n,g,end,1)||pairs(A,o,M,n,g,end,2))pass(A,o,M,n,w,stamps,c,shift,g,end);
    else for(let h=g;h<end;h+=per)pass(A,o,M,n,w,stamps,c,shift,h,h+per<end?h+per:end)}}
function groups(M,n,w){
  if(n===W)return W*w>32?W*w/32:1;
  const per=32/w;let count=0;
  for(let g=0;g<W;g+=per){const end=g+per<W?g+per:W;for(let l=g;l<end;l++)if(M[l]!==0){count++;break}}
  return count}
function fits(A,o,M,n,w,length){
  for(let l=0;l<W;l++)if(n===W||M[l]!==0){const i=A[o+l];if(!(i>=0&&i<=length-w)||i%w!==0)return false}
  return true}
${checkPrelude}`;
}

/** The variables of memory number k, and the statement that binds them to a storage `b`. */
export function memoryVariables(k: number): { declare: string; bind: string } {
  const names = [
    "m",
    "st",
    "ws",
    "wm",
    "rs",
    "r1",
    "r2",
    "rx",
    "ro",
    "fl",
    "ca",
    "sn",
    "sm",
    "readers",
    "h",
    "c",
  ].map((name) => name + k);
  const fields = [
    "array",
    "stamps",
    "ws",
    "wm",
    "rs",
    "r1",
    "r2",
    "rx",
    "ro",
    "flying",
    "carriers",
    "leaving",
    "leavingMark",
    "readers",
    "heads",
    "counts",
  ];
  return {
    declare: `let ${names.join(",")},len${k}=0,checked${k}=false,read${k}=false;`,
    bind:
      names.map((name, i) => `${name}=b.${fields[i]};`).join("") +
      `len${k}=b.array.length;checked${k}=b.checked;read${k}=b.isRead;`,
  };
}

/** Finds lowest and highest index, whether lanes are consecutive (`seq`), and the bits of all (`odd`). */
export const scan = (w: number): string => `
  let lo=Infinity,hi=-Infinity,odd=0,seq=false;
  if(n===W){
    let next=A[o];seq=true;
    for(let l=0;l<W;l++){const i=A[o+l];if(i<lo)lo=i;if(i>hi)hi=i;if(i!==next)seq=false;next+=${w};${w > 1 ? "odd|=i;" : ""}}
  }else for(let l=0;l<W;l++)if(M[l]!==0){const i=A[o+l];if(i<lo)lo=i;if(i>hi)hi=i;${w > 1 ? "odd|=i;" : ""}}`;

/** The element's index shifted by this is that of its 32-byte sector. */
export const sectorShift = ({ element }: Memory): number => (elementBytes(element) === 2 ? 4 : 3);
/** The element's index shifted by this is that of its 4-byte word. */
const wordShift = ({ element }: Memory): number => (elementBytes(element) === 2 ? 1 : 0);
/** The words that an access of `w` elements touches. */
const words = (memory: Memory, w: number): number => Math.max(1, w >> wordShift(memory));

/** The width that counts where all lanes want one address: twice as many lanes as else fit in a pass. */
const together = (count: number): number => Math.max(1, count / 2);

/** A number from and to what a memory's array holds. */
const DECODE = { f16: "m.f16FromBits", bf16: "m.bf16FromBits", f32: "", i32: "", u32: "" } as const;
const ENCODE = { f16: "m.f16ToBits", bf16: "m.bf16ToBits", f32: "", i32: "", u32: "" } as const;

export function countCode(k: number, memory: Memory, w: number, way: "read" | "write"): string {
  const requests = field(`${way}Requests`);
  const head = `c${k}[${requests}]++;c${k}[${field(`${way}Bytes`)}]+=n*${elementBytes(memory.element) * w};`;
  const shift = sectorShift(memory);
  if (memory.space === "global")
    return (
      head +
      `c${k}[${field(`${way}Sectors`)}]+=lo===hi?1:seq?((hi+${w - 1})>>>${shift})-(lo>>>${shift})+1:sectors(A,o,M,n,st${k},${shift});`
    );
  return (
    head +
    `if(lo===hi||seq)c${k}[${field("passes")}]+=groups(M,n,lo===hi?${together(words(memory, w))}:${words(memory, w)});else banks(A,o,M,n,${words(memory, w)},st${k},c${k},${wordShift(memory)});`
  );
}

/** `load(S,o,d0..,M,n,site)`: A[o+l] are the indices, V[d+l] the results. */
export function loadFunction(
  name: string,
  k: number,
  memory: Memory,
  indexView: string,
  w: number,
  options: CheckOptions,
): string {
  const targets = Array.from({ length: w }, (_, j) => `d${j}`);
  const get = targets
    .map((d, j) => `V[${d}+l]=${DECODE[memory.element]}(m${k}[i${j ? `+${j}` : ""}]);`)
    .join("");
  return `function ${name}(S,o,${targets.join(",")},M,n,site){
  const A=S.${indexView},V=S.${VIEWS[memory.element]};request++;${scan(w)}
  if(!(lo>=0&&hi<=len${k}-${w})${w > 1 ? `||(odd&${w - 1})!==0` : ""}){
    const some=rt.guard(${k},A,o,S,M,n,${w},site,request,"read",ok);
    for(let l=0;l<W;l++)if(ok[l]===0&&(n===W||M[l]!==0)){${targets.map((d) => `V[${d}+l]=0;`).join("")}}
    if(some>0)${name}(S,o,${targets.join(",")},ok.slice(),some,site);
    return}
  ${options.counters ? countCode(k, memory, w, "read") : ""}
  ${guardChecks(
    k,
    options.races,
    `if(lo===hi){${sameElementCheck(k, memory, w, "lo", options)}}else ` +
      each(perElement(w, "A[o+l]", readCheck(k, memory, options))),
  )}
  if(n===W)for(let l=0;l<W;l++){const i=A[o+l];${get}}
  else for(let l=0;l<W;l++)if(M[l]!==0){const i=A[o+l];${get}}
}`;
}

/** `load(S,i,M,n,site)`: all lanes read at index i; returns the first element, the others are in q1 to q7. */
export function uniformLoadFunction(
  name: string,
  k: number,
  memory: Memory,
  w: number,
  options: CheckOptions,
): string {
  const rest = [1, 2, 3, 4, 5, 6, 7].slice(0, w - 1);
  const decode = DECODE[memory.element];
  const fields =
    memory.space === "global"
      ? [field("readSectors"), "1"]
      : [field("passes"), `groups(M,n,${together(words(memory, w))})`];
  const count = `c${k}[${field("readRequests")}]++;c${k}[${field("readBytes")}]+=n*${elementBytes(memory.element) * w};c${k}[${fields[0]}]+=${fields[1]};`;
  return `function ${name}(S,i,M,n,site){
  request++;
  if(!(i>=0&&i<=len${k}-${w})${w > 1 ? `||(i&${w - 1})!==0` : ""}){
    rt.guardUniform(${k},i,S,M,n,${w},site,request);${rest.map((j) => `q${j}=0;`).join("")}return 0}
  ${options.counters ? count : ""}
  ${guardChecks(k, options.races, sameElementCheck(k, memory, w, "i", options))}
  ${rest.map((j) => `q${j}=${decode}(m${k}[i+${j}]);`).join("")}return ${decode}(m${k}[i])}`;
}

/** `store(S,o,d0..,M,n,site)`: writes V[d+l] at A[o+l]; of lanes that write one element, the last wins. */
export function storeFunction(
  name: string,
  k: number,
  memory: Memory,
  indexView: string,
  w: number,
  options: CheckOptions,
): string {
  const sources = Array.from({ length: w }, (_, j) => `d${j}`);
  const put = sources
    .map((d, j) => `m${k}[i${j ? `+${j}` : ""}]=${ENCODE[memory.element]}(V[${d}+l]);`)
    .join("");
  return `function ${name}(S,o,${sources.join(",")},M,n,site){
  const A=S.${indexView},V=S.${VIEWS[memory.element]};request++;changes++;${scan(w)}
  if(!(lo>=0&&hi<=len${k}-${w})${w > 1 ? `||(odd&${w - 1})!==0` : ""}){
    const some=rt.guard(${k},A,o,S,M,n,${w},site,request,"write",ok);
    if(some>0)${name}(S,o,${sources.join(",")},ok.slice(),some,site);
    return}
  ${options.counters ? countCode(k, memory, w, "write") : ""}
  ${guardChecks(k, options.races, each(perElement(w, "A[o+l]", writeCheck(k, memory, options))))}
  if(n===W)for(let l=0;l<W;l++){const i=A[o+l];${put}}
  else for(let l=0;l<W;l++)if(M[l]!==0){const i=A[o+l];${put}}
}`;
}

/** The new value of each atomic operation, over `old`, the operand `x` and, for compareExchange, `y`. */
function atomicResult(op: AtomicNode["op"], element: Memory["element"]): string {
  switch (op) {
    case "load":
      return "old";
    case "store":
    case "exchange":
      return "x";
    case "add":
      return element === "f32" ? "fround(old+x)" : "old+x";
    case "min":
      return "(old<x?old:x)";
    case "max":
      return "(old>x?old:x)";
    case "and":
      return "old&x";
    case "or":
      return "old|x";
    case "xor":
      return "old^x";
    case "compareExchange":
      return "(old===x?y:old)";
  }
}

/**
 * `atomic(S,o,a,b,d,M,n,site,turn)`: operands at V[a+l] and V[b+l], the old value to V[d+l]. Lanes take their turns in
 * order, from lane `turn` on. Counted as atomics, not among the memory's bytes and requests.
 */
export function atomicFunction(name: string, k: number, node: AtomicNode, options: CheckOptions): string {
  const { memory, op } = node;
  const writes = op !== "load";
  const modifies = writes && op !== "store";
  const shared = memory.space === "shared";
  const counted = total(shared ? "sharedAtomics" : "globalAtomics");
  const initialised = shared
    ? `${op === "store" ? "" : `if(ws${k}[i]<group)rt.uninitialised(${k},i,S,l,site,request);`}${writes ? `ws${k}[i]=now;` : ""}`
    : "";
  const releases = node.order === "release" || node.order === "acq_rel";
  const acquires = node.order === "acquire" || node.order === "acq_rel";
  const clocks = options.races === "clocks";
  // A relaxed load orders nothing; a relaxed store ends what was released, a relaxed update keeps it.
  const ordered =
    clocks && (node.order !== "relaxed" || (writes && !modifies))
      ? `rt.clocks.atomic(${k},i,S,l,"${node.order}",${writes},${modifies},now);`
      : "";
  return `function ${name}(S,o,a,b,d,M,n,site,turn){
  const A=S.${VIEWS[node.index.type]},V=S.${VIEWS[memory.element]};request++;
  ${options.counters ? `C[${counted}]+=n;` : ""}
  for(let j=0;j<W;j++){
    const l=(j+turn)&(W-1);
    if(n!==W&&M[l]===0)continue;
    const i=A[o+l];
    if(!(i>=0&&i<len${k})){rt.outOfBounds(${k},i,1,S,l,site,request,"atomic");${node.result ? "V[d+l]=0;" : ""}continue}
    ${options.races === "none" ? "" : initialised + ordered}
    const old=m${k}[i]${node.operands.length > 0 ? ",x=V[a+l]" : ""}${node.operands.length > 1 ? ",y=V[b+l]" : ""};
    ${writes ? `m${k}[i]=${atomicResult(op, memory.element)};if(m${k}[i]!==old)changes++;` : ""}
    ${node.result ? "V[d+l]=old;" : ""}
  }
  ${clocks && acquires ? "rt.clocks.agree(S);" : ""}
  ${clocks && releases ? "S.tick=++now;" : ""}
}`;
}
