"""The same tasks by PyTorch, eager and compiled, timed on the GPU.

As a worker it answers each line of stdin with a line on stdout, and does nothing unasked, so the GPU is idle while others measure:

    {"task": "sum", "sizes": {"n": 1024}}   makes the data and compiles: {"ready": true, "version": "…"} or {"error": "…"}
    {"time": true}                          times that task: {"eagerMs": …, "compiledMs": …}, null for what did not work

With sizes as an argument it goes through tasks by itself and prints a line for each, {"id", "eagerMs", "compiledMs", "error"?}:

    python3 torch.py --sizes '{"sum": {"n": 1024}}' [--limit SECONDS] [--autotune]

Float32 products and convolutions are computed in float32 ("highest"): TF32 is off. Times are by CUDA events, medians over batches of
calls on the same data, with warm caches, as ours are. Results are allocated by each call, which PyTorch does without asking the
driver. Eager stencils are one convolution, compiled ones are sums of shifted slices, which compile to one kernel; eager Adam is the
fused optimizer. --autotune also compiles with max-autotune-no-cudagraphs, and the faster of both counts.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import time
import warnings

# This file's own folder is where Python looks first, and the file is called torch too.
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [path for path in sys.path if os.path.abspath(path or ".") != HERE]

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

WARM_UP_CALLS = 5
BATCH_MS = 3.0
# When asked for times by the line there are several rounds of these, so fewer do.
BATCHES_ALONE = 20
BATCHES_PER_ROUND = 5
MOST_CALLS = 500


def normal(*shape):
    return torch.randn(shape, device="cuda")


def below(limit, *shape):
    return torch.randint(0, limit, shape, device="cuda")


class Work:
    """A task with its data: what to call, eager and compiled, and on what."""

    def __init__(self, eager, *data, compiled=None, eager_call=None):
        self.data = data
        self.to_compile = compiled or eager
        self.eager = eager_call or (lambda: eager(*data))


def bias_gelu(rows, columns):
    return Work(lambda x, bias: F.gelu(x + bias, approximate="tanh"), normal(rows, columns), normal(columns))


def swiglu(rows, columns):
    return Work(lambda a, b: F.silu(a) * b, normal(rows, columns), normal(rows, columns))


def adam(n):
    rate, first, second, epsilon, step = 1e-3, 0.9, 0.999, 1e-8, 10
    p, g, m, v = normal(n), normal(n), normal(n) * 0.1, normal(n).abs() * 0.1
    parameter = torch.nn.Parameter(p.clone())
    parameter.grad = g
    optimizer = torch.optim.Adam([parameter], lr=rate, betas=(first, second), eps=epsilon, fused=True)

    def formula(p, g, m, v):
        m.mul_(first).add_(g, alpha=1 - first)
        v.mul_(second).addcmul_(g, g, value=1 - second)
        root = v.sqrt().mul_((1 - second**step) ** -0.5).add_(epsilon)
        p.addcdiv_(m, root, value=-rate / (1 - first**step))

    return Work(formula, p, g, m, v, eager_call=optimizer.step)


def conv1d_depthwise(batch, channels, length):
    def run(x, w, bias):
        return F.silu(F.conv1d(x, w, bias, padding=3, groups=channels)[..., :length])

    return Work(run, normal(batch, channels, length), normal(channels, 1, 4), normal(channels))


def depthwise_conv2d(batch, channels, height, width):
    def run(x, w):
        return F.conv2d(x, w, padding=1, groups=channels)

    return Work(run, normal(batch, channels, height, width), normal(channels, 1, 3, 3))


def conv2d(batch, inputs, outputs, height, width):
    x, w = normal(batch, inputs, height, width), normal(outputs, inputs, 3, 3)
    return Work(lambda x, w: F.conv2d(x, w, padding=1), x, w)


def laplace_2d(height, width):
    window = torch.tensor([[0.0, 1, 0], [1, -4, 1], [0, 1, 0]], device="cuda")[None, None]

    def shifted(x):
        z = F.pad(x, (1, 1, 1, 1))
        return z[1:-1, :-2] + z[1:-1, 2:] + z[:-2, 1:-1] + z[2:, 1:-1] - 4 * x

    return Work(lambda x: F.conv2d(x[None, None], window, padding=1), normal(height, width), compiled=shifted)


def heat_3d(x, y, z):
    alpha = 0.1
    window = torch.zeros(3, 3, 3, device="cuda")
    for a, b, c in ((0, 1, 1), (2, 1, 1), (1, 0, 1), (1, 2, 1), (1, 1, 0), (1, 1, 2)):
        window[a, b, c] = alpha
    window[1, 1, 1] = 1 - 6 * alpha
    window = window[None, None]

    def shifted(u):
        w = F.pad(u, (1, 1, 1, 1, 1, 1))
        planes = w[:-2, 1:-1, 1:-1] + w[2:, 1:-1, 1:-1]
        rows = w[1:-1, :-2, 1:-1] + w[1:-1, 2:, 1:-1]
        columns = w[1:-1, 1:-1, :-2] + w[1:-1, 1:-1, 2:]
        return u + alpha * (planes + rows + columns - 6 * u)

    return Work(lambda u: F.conv3d(u[None, None], window, padding=1), normal(x, y, z), compiled=shifted)


def layer_norm(rows, columns):
    def run(x, w, b):
        return F.layer_norm(x, (columns,), w, b, 1e-5)

    return Work(run, normal(rows, columns), normal(columns), normal(columns))


def rms_norm(rows, columns):
    return Work(lambda x, w: F.rms_norm(x, (columns,), w, 1e-5), normal(rows, columns), normal(columns))


def cross_entropy(rows, columns):
    def run(x, labels):
        return F.cross_entropy(x, labels, reduction="none")

    return Work(run, normal(rows, columns), below(columns, rows))


def embedding(rows, columns, vocabulary):
    return Work(lambda table, ids: F.embedding(ids, table), normal(vocabulary, columns), below(vocabulary, rows))


TASKS = {
    "bias-gelu": bias_gelu,
    "swiglu": swiglu,
    "adam": adam,
    "sum": lambda n: Work(lambda x: x.sum(), normal(n)),
    "argmax-rows": lambda rows, columns: Work(lambda x: x.argmax(1), normal(rows, columns)),
    "column-mean": lambda rows, columns: Work(lambda x: x.mean(0), normal(rows, columns)),
    "matmul": lambda m, n, k: Work(lambda a, b: a @ b, normal(m, k), normal(k, n)),
    "matvec": lambda rows, columns: Work(lambda a, x: a @ x, normal(rows, columns), normal(columns)),
    "batched-matmul": lambda batch, m, n, k: Work(lambda a, b: a @ b, normal(batch, m, k), normal(batch, k, n)),
    "conv1d-depthwise": conv1d_depthwise,
    "conv2d": conv2d,
    "depthwise-conv2d": depthwise_conv2d,
    "max-pool": lambda planes, height, width: Work(lambda x: F.max_pool2d(x, 2), normal(1, planes, height, width)),
    "prefix-sum": lambda n: Work(lambda x: x.cumsum(0), normal(n)),
    "cumsum-rows": lambda rows, columns: Work(lambda x: x.cumsum(1), normal(rows, columns)),
    "sort-rows": lambda rows, columns: Work(lambda x: x.sort(1).values, normal(rows, columns)),
    "laplace-2d": laplace_2d,
    "heat-3d": heat_3d,
    "layer-norm": layer_norm,
    "rms-norm": rms_norm,
    "log-softmax": lambda rows, columns: Work(lambda x: F.log_softmax(x, 1), normal(rows, columns)),
    "cross-entropy": cross_entropy,
    "huber-loss": lambda n: Work(lambda x, t: F.huber_loss(x, t), normal(n), normal(n)),
    "embedding": embedding,
}


def batch_ms(call, count):
    """Milliseconds per call of a batch of calls."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(count):
        call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / count


def calls_per_batch(call):
    for _ in range(WARM_UP_CALLS):
        call()
    torch.cuda.synchronize()
    return max(1, min(MOST_CALLS, round(BATCH_MS / max(batch_ms(call, 3), 1e-4))))


def median_ms(call, batches):
    count = calls_per_batch(call)
    return statistics.median(batch_ms(call, count) for _ in range(batches))


class Prepared:
    """A task whose data are on the GPU, and that is compiled."""

    def __init__(self, task, sizes, autotune):
        torch.manual_seed(1)
        torch._dynamo.reset()
        self.work = TASKS[task](**sizes)
        self.work.eager()
        self.compiled, self.error = None, None
        modes = ["default", "max-autotune-no-cudagraphs"] if autotune else ["default"]
        calls = []
        for mode in modes:
            try:
                calls.append(self.compile(mode))
            except TimeoutError:
                raise
            except Exception as error:
                self.error = short(error)
        if len(calls) > 1:
            calls.sort(key=lambda call: median_ms(call, BATCHES_PER_ROUND))
        if calls:
            self.compiled = calls[0]
        torch.cuda.synchronize()

    def compile(self, mode):
        function = torch.compile(self.work.to_compile, mode=mode, dynamic=False, fullgraph=True)
        data = self.work.data

        def call():
            return function(*data)

        call()
        return call

    def time(self, batches):
        return {
            "eagerMs": median_ms(self.work.eager, batches),
            "compiledMs": None if self.compiled is None else median_ms(self.compiled, batches),
        }


def short(error):
    return f"{type(error).__name__}: {str(error).strip()[:300]}"


def version():
    return f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}"


def serve(answer, autotune):
    prepared = None
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            question = json.loads(line)
            if "task" in question:
                prepared = None
                torch.cuda.empty_cache()
                prepared = Prepared(question["task"], question["sizes"], autotune)
                answer({"ready": True, "version": version()})
            elif prepared is None:
                answer({"error": "no task is ready"})
            else:
                answer(prepared.time(BATCHES_PER_ROUND))
        except Exception as error:
            answer({"error": short(error)})


def run_all(answer, sizes, limit, autotune):
    def stop(*_):
        raise TimeoutError(f"the limit of {limit} s has passed")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    end = time.monotonic() + limit
    for task, given in sizes.items():
        line = {"id": task, "eagerMs": None, "compiledMs": None}
        try:
            if time.monotonic() > end:
                stop()
            torch.cuda.empty_cache()
            prepared = Prepared(task, given, autotune)
            line.update(prepared.time(BATCHES_ALONE))
            if prepared.error is not None:
                line["error"] = prepared.error
        except Exception as error:
            line["error"] = short(error)
        prepared = None
        answer(line)
    signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", help="a record of sizes by task, as JSON or the path of a file with it")
    parser.add_argument("--limit", type=float, default=540, help="seconds after which no task begins or goes on")
    parser.add_argument("--autotune", action="store_true", help="compile with max-autotune-no-cudagraphs, too")
    options = parser.parse_args()

    # What libraries print is no answer.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")

    def answer(value):
        out.write(json.dumps(value) + "\n")
        out.flush()

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    # Eager convolutions try what cuDNN has, once for each shape.
    torch.backends.cudnn.benchmark = True
    torch.set_grad_enabled(False)

    if options.sizes is None:
        serve(answer, options.autotune)
        return
    text = options.sizes
    if os.path.exists(text):
        with open(text) as file:
            text = file.read()
    run_all(answer, json.loads(text), options.limit, options.autotune)


if __name__ == "__main__":
    main()
