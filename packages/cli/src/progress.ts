/** Progress on stderr: a bar that redraws itself on a terminal, plain lines elsewhere. */

export interface Progress {
  /** A line that stays. */
  line(text: string): void;
  /** Shows that `done` of `total` steps are complete, and what runs now. */
  step(done: number, total: number, text: string): void;
  /** Removes the bar. */
  end(): void;
}

const BAR_WIDTH = 24;

export function openProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY ? terminalProgress(stream) : plainProgress(stream);
}

function terminalProgress(stream: NodeJS.WriteStream): Progress {
  let bar = "";
  const clear = (): void => {
    if (bar !== "") stream.write("\r\u001b[2K");
  };
  return {
    line(text) {
      clear();
      stream.write(`${text}\n${bar}`);
    },
    step(done, total, text) {
      const filled = total === 0 ? BAR_WIDTH : Math.round((BAR_WIDTH * done) / total);
      const room = Math.max(10, (stream.columns ?? 80) - BAR_WIDTH - 14);
      clear();
      bar = `${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)} ${total === 0 ? "" : `${done}/${total} `}${text.slice(0, room)}`;
      stream.write(bar);
    },
    end() {
      clear();
      bar = "";
    },
  };
}

/** At most ten lines for each number of steps, so that logs stay readable. */
function plainProgress(stream: NodeJS.WriteStream): Progress {
  let reported = "";
  return {
    line(text) {
      stream.write(`${text}\n`);
    },
    step(done, total, text) {
      const tenth = total === 0 ? 10 : Math.floor((10 * done) / total);
      const part = `${tenth} of ${total}`;
      if (part === reported) return;
      reported = part;
      stream.write(`${total === 0 ? "" : `[${done}/${total}] `}${text}\n`);
    },
    end() {
      reported = "";
    },
  };
}
