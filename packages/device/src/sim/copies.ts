/** Writes the JavaScript of asynchronous copies: one function that starts them and one that lets them land. */

import { elementBytes } from "@evolver/kernel";
import type { AsyncCopyNode, Memory } from "@evolver/kernel";
import { WHO, addReader, each, guardChecks, perElement, readCheck, writeCheck } from "./checks.ts";
import type { CheckOptions } from "./checks.ts";
import { field, total } from "./counting.ts";
import { countCode, scan, sectorShift } from "./memory.ts";

/**
 * What starts and lands copies of one width to memory number k: see FlightType.
 *
 * @param source the memory they come from where its elements are marked meanwhile, or null
 */
export function landingFunction(
  name: string,
  k: number,
  source: { readonly k: number; readonly memory: Memory } | null,
  memory: Memory,
  w: number,
  options: CheckOptions,
): string {
  const put = Array.from({ length: w }, (_, j) => `m${k}[i+${j}]=X[x+${j}];`).join("");
  const ended = `if(fl${k}[e]===mark+l+1)fl${k}[e]=0;ws${k}[e]=now;`;
  const by = `ca${k}[e*2]=base+l;ca${k}[e*2+1]=G[l];`;
  const record = `const base=f.subgroup.base,mark=f.site*${WHO}+base,by=f.site*${WHO}+f.lander,G=f.generation;
    if(f.lander<0){${each(perElement(w, "A[l]", `${ended}wm${k}[e]=mark+l;`))}}
    else{${each(perElement(w, "A[l]", `${ended}wm${k}[e]=by;${by}`))}}`;
  // The lane that waits for its copy has read until now.
  const over =
    source === null
      ? ""
      : `const tick=f.subgroup.tick,R=f.from;${each(
          `const first=R[l];if(first>=0)for(let e=first;e<first+${w};e++){
            sn${source.k}[e]--;if(f.lander<0){${addReader(source.k, source.memory, options)}}}`,
        )}`;
  return `function ${name}(f){
  const A=f.at,M=f.mask,n=f.count,X=f.data,o=0;changes++;${scan(w)}
  ${options.counters ? countCode(k, memory, w, "write") : ""}
  ${options.races === "none" ? "" : `if(checked${k}){${record}${over}}`}
  ${each(`const i=A[l],x=l*${w};${put}`)}
}
const type_${name}={memory:${k},source:${source?.k ?? null},bytes:${w * elementBytes(memory.element)},land:${name},free:[],data:()=>new m${k}.constructor(W*${w})};`;
}

/**
 * `copy(S,of,ot,oa,M,n,site)`: A[of+l] are the indices to read at, B[ot+l] those to write at; where I[oa+l] is 0 nothing is
 * read (oa < 0: everywhere something is).
 *
 * @param landing the name of the landing function
 */
export function copyFunction(
  name: string,
  node: AsyncCopyNode,
  [kf, kt]: readonly [number, number],
  [viewFrom, viewTo]: readonly [string, string],
  landing: string,
  options: CheckOptions,
): string {
  const { from, to, width: w } = node;
  const words = Array.from({ length: w }, (_, j) => j);
  const active = (body: string): string => `for(let l=0;l<W;l++)if(act[l]!==0){${body}}`;
  const count =
    `C[${total("asyncCopies")}]++;if(na>0){c${kf}[${field("readRequests")}]++;` +
    `c${kf}[${field("readBytes")}]+=na*${w * elementBytes(from.element)};` +
    `c${kf}[${field("readSectors")}]+=sectors(A,of,act,na,st${kf},${sectorShift(from)})}`;
  const tracked = options.races !== "none" && options.sources.has(from);
  // Several copies may read an element at once: their number, and the last one.
  const read = readCheck(kf, from, options, "copy") + (tracked ? `sn${kf}[e]++;sm${kf}[e]=mark+l;` : "");
  const write = `${writeCheck(kt, to, options, "copy", false)}fl${kt}[e]=mark+l+1;`;
  return `function ${name}(S,of,ot,oa,M,n,site){
  const A=S.${viewFrom},B=S.${viewTo},I=S.I;request++;let na=0;
  for(let l=0;l<W;l++){act[l]=(n===W||M[l]!==0)&&(oa<0||I[oa+l]!==0)?1:0;na+=act[l]}
  if(!fits(B,ot,M,n,${w},len${kt})){
    const some=rt.guard(${kt},B,ot,S,M,n,${w},site,request,"copy",ok);
    if(some>0)${name}(S,of,ot,oa,ok.slice(),some,site);
    return}
  if(na>0&&!fits(A,of,act,na,${w},len${kf})){
    rt.guard(${kf},A,of,S,act,na,${w},site,request,"copy",ok);
    const rest=new Uint8Array(W);let some=0;
    for(let l=0;l<W;l++){rest[l]=(n===W||M[l]!==0)&&(act[l]===0||ok[l]!==0)?1:0;some+=rest[l]}
    if(some>0)${name}(S,of,ot,oa,rest,some,site);
    return}
  ${options.counters ? count : ""}
  ${guardChecks(kf, options.races, active(perElement(w, "A[of+l]", read)))}
  ${guardChecks(kt, options.races, each(perElement(w, "B[ot+l]", write)))}
  const f=rt.flights.take(type_${landing},S,site),at=f.at,X=f.data,mask=f.mask${tracked ? ",from=f.from" : ""};
  for(let l=0;l<W;l++){
    if(n!==W&&M[l]===0){mask[l]=0;continue}
    mask[l]=1;at[l]=B[ot+l];const x=l*${w};
    if(act[l]!==0){const i=A[of+l];${tracked ? "from[l]=i;" : ""}${words.map((j) => `X[x+${j}]=m${kf}[i+${j}];`).join("")}}
    else{${tracked ? "from[l]=-1;" : ""}${words.map((j) => `X[x+${j}]=0;`).join("")}}
  }
  f.count=n;rt.flights.start(f);
}`;
}
