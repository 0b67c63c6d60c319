/** Attention in onnxruntime-node: MatMul, Softmax, MatMul as a model that is written here, in ONNX's protobuf encoding. */

import type { Contender, Heads } from "./contender.ts";

/** What is used of onnxruntime-node, which need not be installed where types are checked. */
interface OnnxRuntime {
  readonly Tensor: new (type: "float32", data: Float32Array, shape: readonly number[]) => OnnxTensor;
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<OnnxSession>;
  };
}
interface OnnxTensor {
  readonly data: Float32Array;
}
interface OnnxSession {
  run(feeds: Record<string, OnnxTensor>): Promise<{ readonly o: OnnxTensor }>;
  release(): Promise<void>;
}

export async function openOnnx(heads: Heads, threads: number): Promise<Contender> {
  const specifier = "onnxruntime-node";
  const imported = (await import(specifier)) as { readonly default?: OnnxRuntime } & OnnxRuntime;
  const { InferenceSession, Tensor } = imported.default ?? imported;
  const session = await InferenceSession.create(attentionModel(heads.scale), {
    executionProviders: ["cpu"],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
  });
  const shape = [heads.heads, heads.length, heads.dim];
  const transposed = transposeLast(heads.k, shape);
  const feeds = {
    q: new Tensor("float32", heads.q, shape),
    k: new Tensor("float32", transposed, [heads.heads, heads.dim, heads.length]),
    v: new Tensor("float32", heads.v, shape),
  };
  return {
    name: "onnxruntime-node",
    threads,
    run: async () => (await session.run(feeds)).o.data,
    close: () => session.release(),
  };
}

/** ONNX multiplies matrices as they are, so keys are given as columns; the time to arrange them is not counted. */
function transposeLast(data: Float32Array, [heads, rows, columns]: readonly number[]): Float32Array {
  const [h, r, c] = [heads as number, rows as number, columns as number];
  return Float32Array.from({ length: data.length }, (_, i) => {
    const head = Math.trunc(i / (r * c));
    const within = i % (r * c);
    return data[head * r * c + (within % r) * c + Math.trunc(within / r)] as number;
  }).subarray(0, h * r * c);
}

/** Protobuf's wire types that occur. */
const WIRE = { varint: 0, bytes: 2 } as const;
/** onnx.TensorProto.FLOAT */
const FLOAT = 1;

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.trunc(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}
const integer = (field: number, value: number): number[] => [
  ...varint(field * 8 + WIRE.varint),
  ...varint(value),
];
const message = (field: number, ...parts: readonly (readonly number[])[]): number[] => {
  const body = parts.flat();
  return [...varint(field * 8 + WIRE.bytes), ...varint(body.length), ...body];
};
const text = (field: number, value: string): number[] => message(field, [...new TextEncoder().encode(value)]);

/** onnx.NodeProto: 1 inputs, 2 outputs, 4 operator. */
const node = (operator: string, inputs: readonly string[], output: string): number[] =>
  message(1, ...inputs.map((input) => text(1, input)), text(2, output), text(4, operator));

/** onnx.ValueInfoProto: a tensor of floats of three axes, whose lengths are not fixed. */
const value = (field: number, name: string): number[] => {
  const axes = ["a", "b", "c"].map((axis) => message(1, text(2, `${name}_${axis}`)));
  return message(field, text(1, name), message(2, message(1, integer(1, FLOAT), message(2, ...axes))));
};

/** softmax(q · scale · k) · v, over the last axis: onnx.ModelProto with one graph, of operator set 17. */
function attentionModel(scale: number): Uint8Array {
  const bits = [...new Uint8Array(Float32Array.of(scale).buffer)];
  // onnx.TensorProto: 2 type, 8 name, 9 data; without dimensions it is a scalar.
  const scaleTensor = message(5, integer(2, FLOAT), text(8, "scale"), message(9, bits));
  const graph = message(
    7,
    node("Mul", ["q", "scale"], "scaled"),
    node("MatMul", ["scaled", "k"], "scores"),
    node("Softmax", ["scores"], "weights"),
    node("MatMul", ["weights", "v"], "o"),
    text(2, "attention"),
    scaleTensor,
    ...["q", "k", "v"].map((name) => value(11, name)),
    value(12, "o"),
  );
  const operatorSet = message(8, text(1, ""), integer(2, 17));
  return Uint8Array.from([...integer(1, 8), ...graph, ...operatorSet]);
}
