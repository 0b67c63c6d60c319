/**
 * Writes the JavaScript that checks one element of an access: races, uninitialised shared memory, copies under way.
 *
 * Time is a number that grows at every barrier and workgroup (`now`); `group` is the time at which this workgroup began,
 * `launch` that of the launch. "Who and site" is site · WHO + local index.
 *
 * Where only barriers of the whole workgroup order anything, two accesses of a workgroup are unordered exactly when they
 * happen in the same interval, and those of two workgroups always ("intervals"). For each element the last write (ws:
 * when, wm: who and at which site), the readers in the last interval that read it (rs, r1, r2: two are enough to know
 * whether any other reader than the writer exists) and the last reader of an earlier workgroup (rx, ro) are kept.
 *
 * Elsewhere ("clocks") time also grows where somebody releases, an access is unordered when it is later than what this
 * lane knows of the other (clocks.ts), and all readers since the last write are kept (readers.ts; `h` holds the heads),
 * in shared memory those since the workgroup last met (`meet`).
 */

import type { Memory } from "@evolver/kernel";

/** More than any local index; see above. */
export const WHO = 2048;

/** Lanes whose reads of an element are remembered together, as bits: a subgroup, or 32 lanes of a larger one. */
export const unitLanes = (width: number): number => Math.min(width, 32);

export type RaceMode = "none" | "intervals" | "clocks";

export interface CheckOptions {
  readonly races: RaceMode;
  readonly counters: boolean;
  /** Where asynchronous copies go. */
  readonly copied: ReadonlySet<Memory>;
  /** What they read and somebody writes. */
  readonly sources: ReadonlySet<Memory>;
}

/** Functions that checks call. */
export const checkPrelude = `
const unitShift=31-Math.clz32(W<32?W:32);
function laneBits(M,n,u){
  if(n===W&&W>=32)return -1;
  let bits=0;const end=u+32<W?u+32:W;
  for(let l=u;l<end;l++)if(n===W||M[l]!==0)bits|=1<<l;
  return bits}
`;

export const each = (body: string): string => `for(let l=0;l<W;l++)if(n===W||M[l]!==0){${body}}`;

export const perElement = (w: number, index: string, check: string): string =>
  w === 1 ? `const e=${index};${check}` : `const f=${index};for(let e=f;e<f+${w};e++){${check}}`;

/** What the checks of one request share. */
export function guardChecks(k: number, races: RaceMode, checks: string): string {
  if (races === "none") return "";
  const clocks = races === "clocks" ? ",known=S.known,tick=S.tick" : "";
  return `if(checked${k}){const base=S.base,mark=site*${WHO}+base${clocks};${checks}}`;
}

/** A copy that is under way to element `e`, as lane `l` touches it. */
function flightCheck(k: number, memory: Memory, action: string, { copied }: CheckOptions): string {
  return copied.has(memory)
    ? `if(fl${k}[e]!==0)rt.copies.inFlight(${k},e,S,l,site,request,"${action}",fl${k}[e]);`
    : "";
}

/** A copy that is under way from element `e`, which lane `l` writes. */
function sourceCheck(k: number, memory: Memory, { sources }: CheckOptions): string {
  return sources.has(memory)
    ? `if(sn${k}[e]!==0)rt.copies.sourceWritten(${k},e,S,l,site,request,sm${k}[e]);`
    : "";
}

const race = (k: number, action: string, other: string, mark: string, time: string): string =>
  `rt.race(${k},e,S,l,site,request,"${action}","${other}",${mark},${time})`;

/** Checks the read of element `e` by lane `l`. */
export function readCheck(k: number, memory: Memory, options: CheckOptions, action = "read"): string {
  const shared = memory.space === "shared";
  const flight = flightCheck(k, memory, action, options);
  const unwritten = shared ? `rt.uninitialised(${k},e,S,l,site,request);` : "";
  const written = race(k, action, "write", `wm${k}[e]`, "w");
  if (options.races === "clocks") {
    const foreign = shared ? unwritten : `if(w>launch&&!rt.knows(known[l],wm${k}[e],w))${written}`;
    return `${flight}
    const w=ws${k}[e];
    if(w>=meet){const who=wm${k}[e]&${WHO - 1};if(who!==base+l&&w>known[l].here[who])${written}}
    else if(w<group){${foreign}}
    ${addReader(k, memory, options)}`;
  }
  return `${flight}
    const w=ws${k}[e];
    if(w>=group){if(w===now&&(wm${k}[e]&${WHO - 1})!==base+l)${written}}
    else{${shared ? unwritten : `if(w>launch)${written}`}}
    ${addReader(k, memory, options)}`;
}

/** Remembers lane `l` as a reader of element `e`. */
export function addReader(k: number, memory: Memory, options: CheckOptions): string {
  if (options.races === "clocks") return addReaders(k, memory, "(l&-32)", "(1<<l)");
  return `const r=rs${k}[e];
    if(r!==now){
      ${memory.space === "shared" ? "" : `if(r>launch&&r<group){rx${k}[e]=r;ro${k}[e]=r1${k}[e]}`}
      rs${k}[e]=now;r1${k}[e]=mark+l;r2${k}[e]=-1
    }else if(r2${k}[e]===-1&&(r1${k}[e]&${WHO - 1})!==base+l)r2${k}[e]=mark+l;`;
}

/** Remembers lanes as readers of element `e`: `bits` of the unit that begins at lane `first`. */
function addReaders(k: number, memory: Memory, first: string, bits: string): string {
  const stale = memory.space === "shared" ? "<meet" : "<=launch";
  return `const j=e*4;
    if(h${k}[j]>=tick&&(h${k}[j+2]&${WHO - 1})===base+${first})h${k}[j+1]|=${bits};
    else if(h${k}[j]${stale}){h${k}[j]=now;h${k}[j+1]=${bits};h${k}[j+2]=mark+${first};h${k}[j+3]=0}
    else readers${k}.add(e,${bits},now,mark+${first},tick,group);`;
}

/**
 * Checks the write of element `e` by lane `l`.
 *
 * @param lands false for a copy that starts: it may not touch what others still use, and has not written yet
 */
export function writeCheck(
  k: number,
  memory: Memory,
  options: CheckOptions,
  action = "write",
  lands = true,
): string {
  const shared = memory.space === "shared";
  const flight = flightCheck(k, memory, action, options) + sourceCheck(k, memory, options);
  const record = lands ? `ws${k}[e]=now;wm${k}[e]=mark+l;` : "";
  const written = race(k, action, "write", `wm${k}[e]`, "w");
  const read = (meta: string, when: string): string => race(k, action, "read", meta, when);
  if (options.races === "clocks")
    return `${flight}
    const w=ws${k}[e],K=known[l];
    if(w>=meet){const who=wm${k}[e]&${WHO - 1};if(who!==base+l&&w>K.here[who])${written}}
    ${shared ? "" : `else if(w>launch&&w<group&&!rt.knows(K,wm${k}[e],w))${written};`}
    if(read${k}){
      const j=e*4,t=h${k}[j];
      if(t${shared ? ">=meet" : ">launch"}){
        const first=h${k}[j+2]&${WHO - 1};
        if(${shared ? "" : "t>=group&&"}h${k}[j+3]===0&&(t<=K.low[first>>>unitShift]||(first===base+(l&-32)&&h${k}[j+1]===1<<l)))h${k}[j]=0;
        else if(!readers${k}.settle(e,K.low,unitShift,${shared ? "meet" : "group"}))rt.clearReaders(${k},e,S,l,site,request,"${action}",group,launch)
      }
    }
    ${record}`;
  const earlier = (when: string): string => `${when}>launch&&${when}<group`;
  return `${flight}
    const w=ws${k}[e];
    if(w===now){if((wm${k}[e]&${WHO - 1})!==base+l)${written}}
    ${shared ? "" : `else if(${earlier("w")})${written};`}
    if(read${k}){
      const r=rs${k}[e];
      if(r===now){
        if((r1${k}[e]&${WHO - 1})!==base+l)${read(`r1${k}[e]`, "r")};
        else if(r2${k}[e]!==-1)${read(`r2${k}[e]`, "r")};
      }
      ${
        shared
          ? ""
          : `else if(${earlier("r")})${read(`r1${k}[e]`, "r")};
      if(${earlier(`rx${k}[e]`)})${read(`ro${k}[e]`, `rx${k}[e]`)};`
      }
    }
    ${record}`;
}

/** Checks reads of the same elements by all active lanes, where most of it need not be done for each. */
export function sameElementCheck(
  k: number,
  memory: Memory,
  w: number,
  index: string,
  options: CheckOptions,
): string {
  const shared = memory.space === "shared";
  const loop = (body: string): string => `for(let e=${index};e<${index}+${w};e++){${body}}`;
  if (options.races !== "clocks") {
    // Once two lanes are known to read an element that nobody writes now, further readers change nothing.
    const known = shared ? "" : `||ws${k}[e]<=launch`;
    const landed = options.copied.has(memory) ? `&&fl${k}[e]===0` : "";
    const settled =
      options.races === "intervals"
        ? `if(rs${k}[e]===now&&r2${k}[e]!==-1&&ws${k}[e]!==now&&(ws${k}[e]>=group${known})${landed})break;`
        : "";
    return loop(`for(let l=0;l<W;l++){${settled}if(n===W||M[l]!==0){${readCheck(k, memory, options)}}}`);
  }
  const written = race(k, "read", "write", `wm${k}[e]`, "w");
  const foreign = shared
    ? each(`rt.uninitialised(${k},e,S,l,site,request);`)
    : `if(w>launch)${each(`if(!rt.knows(known[l],wm${k}[e],w))${written};`)}`;
  const flight = flightCheck(k, memory, "read", options);
  return `const common=S.common,all=laneBits(M,n,0);${loop(`
    ${flight && each(flight)}
    const w=ws${k}[e],who=wm${k}[e]&${WHO - 1};
    if(w>=meet){if(common===null||w>common.here[who])${each(`if(who!==base+l&&w>known[l].here[who])${written};`)}}
    else if(w<group){${foreign}}
    for(let u=0;u<W;u+=32){const bits=u===0?all:laneBits(M,n,u);if(bits!==0){${addReaders(k, memory, "u", "bits")}}}`)}`;
}
