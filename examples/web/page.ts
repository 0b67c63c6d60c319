/** The page: reads the form, starts a worker with the job, and shows what it reports. */

import { isModelled } from "@evolver/device";
import { binaryBytes, durationsUpTo, grouped } from "@evolver/base";
import { ladder } from "@evolver/attention";
import { drawChart } from "./chart.ts";
import { byId, element } from "./dom.ts";
import type { DeviceFacts, Failure, Job, Report, WebDeviceId } from "./job.ts";
import { ideaOf, rowOf, type RungState } from "./rungs.ts";

interface DeviceChoice {
  readonly label: string;
  readonly about: string;
  /** A sequence that takes seconds; it is filled in until the reader types one. */
  readonly sequence: number;
}

const DEVICES: Readonly<Record<WebDeviceId, DeviceChoice>> = {
  webgpu: { label: "WebGPU", about: "The GPU, through the browser's WebGPU.", sequence: 256 },
  cpu: {
    label: "CPU",
    about: "The same kernels compiled to WebAssembly, on all cores. Needs no GPU.",
    sequence: 256,
  },
  sim: {
    label: "Simulator",
    about:
      "Checks every access for races and bounds, on one core. Needs no GPU. Slow: take a sequence of 128 or less. Times are modelled.",
    sequence: 64,
  },
};

const form = byId("job", HTMLFormElement);
const deviceSelect = byId("device", HTMLSelectElement);
const runButton = byId("run", HTMLButtonElement);
const status = byId("status", HTMLOutputElement);
const progressBar = byId("progress", HTMLProgressElement);
const failureBox = byId("failure", HTMLDivElement);
const noticeBox = byId("notice", HTMLDivElement);
const sequenceField = byId("sequence", HTMLInputElement);

let worker: Worker | null = null;
let facts: DeviceFacts | null = null;
let job: Job | null = null;
let states = new Map<string, RungState>();
/** Whether the reader chose a device or a sequence; until then the page does. */
const chosen = { device: false, sequence: false };

function start(): void {
  job = readForm();
  facts = null;
  states = new Map(ladder.map(({ id }) => [id, {}]));
  failureBox.hidden = true;
  byId("facts", HTMLElement).hidden = true;
  worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  worker.addEventListener("message", (event: MessageEvent<Report>) => receive(event.data));
  worker.addEventListener("error", (event) => {
    const what = event.message || "the page's worker did not start";
    end({ code: "WORKER_FAILED", what, hint: "reload the page" });
  });
  worker.postMessage(job);
  runButton.textContent = "Stop";
  document.body.dataset["state"] = "running";
  show();
}

function receive(report: Report): void {
  switch (report.kind) {
    case "progress":
      progressBar.value = report.done / report.total;
      status.value = `${report.what} …`;
      return;
    case "device":
      facts = report.facts;
      break;
    case "verified":
      update(report.rung, { verified: report.result });
      break;
    case "refused":
      update(report.rung, { refused: report.failure });
      break;
    case "timed":
      update(report.rung, { timing: report.timing });
      break;
    case "counted":
      update(report.rung, { counted: report.counted });
      break;
    case "end":
      end(report.failure);
  }
  show();
}

function update(rung: string, news: RungState): void {
  states.set(rung, { ...states.get(rung), ...news });
}

function end(failure: Failure | null): void {
  worker?.terminate();
  worker = null;
  runButton.textContent = "Run";
  document.body.dataset["state"] = failure === null ? "done" : "failed";
  progressBar.value = failure === null ? 1 : 0;
  status.value = failure === null ? summary() : "Stopped.";
  if (failure === null || failure.code === "STOPPED") return;
  const { code, what, hint } = failure;
  failureBox.replaceChildren(element("strong", {}, code), ` ${what}.`);
  if (hint !== null) failureBox.append(element("p", {}, `What to do: ${hint}.`));
  if (code === "WEBGPU_UNAVAILABLE") failureBox.append(withoutGpu());
  failureBox.hidden = false;
}

function summary(): string {
  const right = [...states.values()].filter(({ verified }) => verified?.pass === true).length;
  const claims = [...states.values()].flatMap(({ counted }) => counted?.claims ?? []);
  const holding = claims.filter(({ holds }) => holds).length;
  return `Done: ${right} of ${ladder.length} rungs verified, ${holding} of ${claims.length} claims hold.`;
}

/** Everything that depends on what is known so far. */
function show(): void {
  const timeKind = facts?.timeKind ?? (isModelled(deviceSelect.value) ? "modelled" : "measured");
  byId("time-column", HTMLTableCellElement).textContent = `Time, ${timeKind}`;
  byId("chart-title", HTMLElement).textContent = `Time per launch, ${timeKind}`;
  byId("chart-note", HTMLElement).textContent = chartNote(timeKind);
  const isModel = timeKind === "modelled";
  byId("on-device", HTMLTableCellElement).textContent = isModel
    ? "Modelled by the simulator"
    : "On your device";
  const first = states.get("k01")?.timing?.medianMs ?? null;
  const longest = Math.max(0, ...[...states.values()].map(({ timing }) => timing?.highMs ?? 0));
  byId("rows", HTMLTableSectionElement).replaceChildren(
    ...ladder.map((rung) =>
      rowOf(rung, states.get(rung.id) ?? {}, { job, first, timeKind, show: durationsUpTo(longest) }),
    ),
  );
  const known = [...states.values()];
  byId("times", HTMLElement).hidden = !known.some(({ timing }) => timing !== undefined);
  byId("results", HTMLElement).hidden = !known.some((state) => Object.keys(state).length > 0);
  showChart();
  const ideas = byId("ideas", HTMLDivElement);
  const open = new Set([...ideas.querySelectorAll("details[open]")].map(({ id }) => id));
  ideas.replaceChildren(...ladder.map((rung) => ideaOf(rung, states.get(rung.id) ?? {}, open)));
  if (facts !== null) showFacts(facts);
}

function showChart(): void {
  const chart = byId("chart", HTMLDivElement);
  if (byId("times", HTMLElement).hidden) return;
  const bars = ladder.map(({ id }) => ({ label: id, timing: states.get(id)?.timing ?? null }));
  const title = byId("chart-title", HTMLElement).textContent ?? "";
  chart.replaceChildren(drawChart(bars, chart.clientWidth, title));
}

function chartNote(timeKind: string): string {
  if (timeKind === "modelled") return "Shorter is better. From the simulator's counters, not from a clock.";
  const timing = [...states.values()].find((state) => state.timing !== undefined)?.timing;
  if (timing === undefined) return "Shorter is better.";
  return `Shorter is better. Medians of ${timing.rounds} rounds; the line is their middle half.`;
}

function showFacts({ name, subgroupSize, fixedSubgroups, limits, clock }: DeviceFacts): void {
  const entries: [string, string][] = [
    ["Name", name],
    ["Subgroup width", fixedSubgroups ? String(subgroupSize) : "varies: kernels with subgroups are refused"],
    ["Clock", clock],
    ["Workgroup", `${grouped(limits.maxInvocationsPerWorkgroup)} invocations`],
    ["Shared memory", `${binaryBytes(limits.maxSharedBytes)} per workgroup`],
    ["Largest buffer", binaryBytes(limits.maxBufferBytes)],
  ];
  const items = entries.map(([term, text]) =>
    element("div", {}, element("dt", {}, term), element("dd", {}, text)),
  );
  byId("facts-list", HTMLElement).replaceChildren(...items);
  byId("facts", HTMLElement).hidden = false;
}

function readForm(): Job {
  const number = (id: string): number => byId(id, HTMLInputElement).valueAsNumber;
  const sequence = number("sequence");
  return {
    device: deviceSelect.value as WebDeviceId,
    shape: {
      batch: 1,
      headsQ: number("heads"),
      headsKv: number("keyHeads"),
      seqQ: sequence,
      seqK: sequence,
      dim: number("dim"),
    },
    causal: byId("mask", HTMLSelectElement).value === "causal",
  };
}

function showAbout(): void {
  const { about, sequence } = DEVICES[deviceSelect.value as WebDeviceId];
  byId("about", HTMLElement).textContent = about;
  if (!chosen.sequence) sequenceField.value = String(sequence);
}

/** What the page can do without a GPU, as buttons that do it. */
function withoutGpu(): HTMLElement {
  const button = (device: WebDeviceId): HTMLButtonElement => {
    const made = element(
      "button",
      { type: "button" },
      `Run on the ${device === "cpu" ? "CPU" : "simulator"}`,
    );
    made.addEventListener("click", () => {
      deviceSelect.value = device;
      showAbout();
      if (worker === null) start();
    });
    return made;
  };
  return element(
    "p",
    { class: "ways" },
    "The CPU and the simulator run the same kernels here, without a GPU. ",
    button("cpu"),
    button("sim"),
  );
}

/** Says at once where WebGPU is missing, and chooses the CPU then. */
async function lookForGpu(): Promise<void> {
  const why = await whyNoGpu();
  if (why === null) return;
  noticeBox.replaceChildren(element("strong", {}, `No WebGPU: ${why}.`), withoutGpu());
  noticeBox.hidden = false;
  if (chosen.device) return;
  deviceSelect.value = "cpu";
  showAbout();
  show();
}

/** Null where there is an adapter that can run these kernels. */
async function whyNoGpu(): Promise<string | null> {
  if (navigator.gpu === undefined) return "this browser has none, or the page is not from https or localhost";
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) return "the browser finds no adapter";
  return adapter.features.has("subgroups") ? null : "the adapter has no subgroups, which these kernels need";
}

deviceSelect.append(
  ...Object.entries(DEVICES).map(([value, { label }]) => element("option", { value }, label)),
);
deviceSelect.addEventListener("change", () => {
  chosen.device = true;
  showAbout();
  if (worker === null) show();
});
sequenceField.addEventListener("input", () => (chosen.sequence = true));
// What went wrong was about other values.
form.addEventListener("input", () => (failureBox.hidden = true));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (worker === null) start();
  else end({ code: "STOPPED", what: "stopped", hint: null });
});
new ResizeObserver(showChart).observe(byId("chart", HTMLDivElement));
showAbout();
show();
void lookForGpu();
