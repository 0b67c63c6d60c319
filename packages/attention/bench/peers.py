"""PyTorch's float32 scaled_dot_product_attention as a peer of our kernels.

A worker: reads one JSON request per line from stdin and answers each with one JSON line on stdout. It does nothing
unasked, so the GPU is idle while the other side measures. Requests:

    {"op": "facts"}                        versions, the GPU, how float32 products are computed
    {"op": "copy", "bytes": N}             GB/s of a device-to-device copy, bytes read plus bytes written
    {"op": "load", "folder": F, "shape": {...}, "causal": bool, "scale": x}
                                           q, k, v from F/{q,k,v}.f32; the float64 truth and its bound; which ways of
                                           calling SDPA there are, their kernels and errors, and which are refused
    {"op": "check", "file": F}             the largest absolute error of an output, null if it has a NaN or infinity
    {"op": "time", "id": I, "launches": N} milliseconds per call: N calls between two CUDA events, after one untimed call

An answer is {"error": text} where a request fails. Tensors are [batch, heads, sequence, dim], dense.
"""

import json
import os
import sys
import warnings

import numpy
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as sdpa

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.set_float32_matmul_precision("highest")

BACKENDS = {
    "default": None,
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "math": SDPBackend.MATH,
}
COPIES = 10
PROFILED_CALLS = 2
LONGEST_NAME = 160


class State:
    """What the last `load` left."""

    def __init__(self):
        self.truth = None
        self.calls = {}


state = State()


def facts(_):
    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "gpu": torch.cuda.get_device_name(0),
        "allowTf32": torch.backends.cuda.matmul.allow_tf32,
        "float32MatmulPrecision": torch.get_float32_matmul_precision(),
    }


def elapsed(call, launches):
    """Milliseconds per call."""
    call()
    torch.cuda.synchronize()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(launches):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / launches


def copy(request):
    count = request["bytes"] // 4
    source = torch.randn(count, device="cuda")
    target = torch.empty_like(source)
    times = sorted(elapsed(lambda: target.copy_(source), 1) for _ in range(COPIES))
    return {"gbPerSecond": 2 * count * 4 / times[COPIES // 2] / 1e6}


def attention(q, k, v, causal, scale, scale_keys=False):
    """Plain attention of one head in the tensors' own precision."""
    scores = q @ (k * scale).T if scale_keys else (q @ k.T) * scale
    if causal:
        rows, keys = scores.shape
        hidden = torch.ones(rows, keys, dtype=torch.bool, device=q.device).triu(1 + keys - rows)
        scores.masked_fill_(hidden, float("-inf"))
    return torch.softmax(scores, -1) @ v


def error_of(output, truth):
    """The largest absolute error, or None where the output is not finite throughout."""
    if output.shape != truth.shape:
        raise ValueError(f"the output is {tuple(output.shape)}, the truth {tuple(truth.shape)}")
    if not bool(torch.isfinite(output).all()):
        return None
    return float((output.double() - truth).abs().max())


def truth_of(q, k, v, causal, scale):
    """The float64 truth and FlashAttention-3's bound: twice the error of plain float32 attention plus a rounding."""
    truth = torch.empty(q.shape, dtype=torch.float64, device="cuda")
    low_error = 0.0
    group = q.shape[1] // k.shape[1]
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            args = (q[b, h], k[b, h // group], v[b, h // group])
            truth[b, h] = attention(*(x.double() for x in args), causal, scale)
            low = attention(*args, causal, scale, scale_keys=True)
            low_error = max(low_error, float((low.double() - truth[b, h]).abs().max()))
    rounded = truth.float()
    largest = float(truth.abs().max())
    rounding = 2 * float(((rounded + 0.3 - 0.3) - rounded).abs().max())
    bound = max(2 * low_error + min(rounding, largest * 2**-13), largest * 4 * 2**-24)
    return truth, bound


def kernels_of(call):
    """Names of the GPU's kernels of a call, or None where the profiler does not say."""
    try:
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            for _ in range(PROFILED_CALLS):
                call()
            torch.cuda.synchronize()
        cuda = torch.autograd.DeviceType.CUDA
        names = {event.name[:LONGEST_NAME] for event in profile.events() if event.device_type == cuda}
        return sorted(names) or None
    except Exception as error:  # the profiler is an extra
        print(f"no kernel names: {error}", file=sys.stderr)
        return None


def caller(backend, q, k, v, causal, scale, enable_gqa):
    def call():
        return sdpa(q, k, v, is_causal=causal, scale=scale, enable_gqa=enable_gqa)

    if backend is None:
        return call

    def restricted():
        with sdpa_kernel([backend]):
            return call()

    return restricted


def load(request):
    shape, causal, scale = request["shape"], request["causal"], request["scale"]
    heads = {"q": ("headsQ", "seqQ"), "k": ("headsKv", "seqK"), "v": ("headsKv", "seqK")}

    def tensor(name):
        head, sequence = heads[name]
        data = numpy.fromfile(f"{request['folder']}/{name}.f32", dtype=numpy.float32)
        return torch.from_numpy(data).cuda().view(shape["batch"], shape[head], shape[sequence], shape["dim"])

    if causal and shape["seqQ"] != shape["seqK"]:
        raise ValueError("PyTorch aligns a causal mask top-left: give it as many queries as keys")
    state.truth, state.calls = None, {}
    torch.cuda.empty_cache()
    q, k, v = (tensor(name) for name in "qkv")
    state.truth, bound = truth_of(q, k, v, causal, scale)
    torch.cuda.empty_cache()
    group = shape["headsQ"] // shape["headsKv"]
    forms = [(None, k, v, False)]
    if group > 1:
        repeated = (k.repeat_interleave(group, 1), v.repeat_interleave(group, 1))
        forms = [("enable_gqa", k, v, True), ("repeated before the timing", *repeated, False)]
    variants, refused = [], []
    for name, backend in BACKENDS.items():
        for gqa, keys, values, enable_gqa in forms:
            label = f"torch {name}" + ("" if gqa is None else " gqa" if enable_gqa else " repeated")
            call = caller(backend, q, keys, values, causal, scale, enable_gqa)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    error = error_of(call(), state.truth)
                except Exception as failure:
                    said = [str(each.message).split(" (Triggered")[0] for each in caught]
                    refused.append({"id": label, "why": "; ".join([str(failure), *said])})
                    continue
            state.calls[label] = call
            variants.append({"id": label, "gqa": gqa, "error": error, "kernels": kernels_of(call)})
    return {"bound": bound, "variants": variants, "refused": refused}


def check(request):
    data = numpy.fromfile(request["file"], dtype=numpy.float32)
    output = torch.from_numpy(data).cuda().view(state.truth.shape)
    return {"maxError": error_of(output, state.truth)}


def time(request):
    return {"timeMs": elapsed(state.calls[request["id"]], request["launches"])}


# Libraries print what they like to stdout; answers have a line of their own.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

OPERATIONS = {"facts": facts, "copy": copy, "load": load, "check": check, "time": time}

with torch.inference_mode():
    for line in sys.stdin:
        try:
            request = json.loads(line)
            answer = OPERATIONS[request["op"]](request)
        except Exception as failure:
            answer = {"error": f"{type(failure).__name__}: {failure}"}
        print(json.dumps(answer, allow_nan=False), file=answers, flush=True)

answers.close()
