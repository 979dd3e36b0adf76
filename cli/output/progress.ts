/** A progress bar on stderr, for terminals only: elsewhere it writes nothing. */

import { cutToWidth } from '../../base/display-width.ts';
import { createPaint } from '../../base/paint.ts';
import type { CliContext } from '../base/context.ts';

export interface ProgressBar {
  /** `done` of the total are finished; `label` says what is being done. */
  update(done: number, label?: string): void;
  /** Removes the bar, so that what is printed next starts on a clean line. */
  end(): void;
}

const BAR = 24;
/** Redraws at most this often, in ms. */
const INTERVAL_MS = 50;
const CLEAR_LINE = '\r\x1b[K';

export function createProgress(context: CliContext, total: number, label: string): ProgressBar {
  if (context.stderr.isTTY !== true || context.env.TERM === 'dumb') return { update: () => {}, end: () => {} };
  const paint = createPaint(context.colour.stderr);
  let drawn = Number.NEGATIVE_INFINITY;
  let text = label;
  return {
    update(done, next) {
      text = next ?? text;
      const now = context.clock.monotonic();
      if (now - drawn < INTERVAL_MS && done < total) return;
      drawn = now;
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(share * BAR);
      const bar = paint('green', '█'.repeat(filled)) + paint('dim', '░'.repeat(BAR - filled));
      const room = (context.stderr.columns ?? 80) - BAR - 2;
      context.stderr.write(`${CLEAR_LINE}${bar} ${cutToWidth(`${done}/${total} ${text}`, room)}`);
    },
    end() {
      context.stderr.write(CLEAR_LINE);
    },
  };
}
