/** Prompts on the terminal, drawn on stderr and answered on stdin; cancelling one ends the command. */
import { confirm, intro, log, password, select, text } from '@clack/prompts';
import { createPaint } from '../../base/paint.ts';
import { cutToWidth } from '../../base/text.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';

/** Returns why a text is invalid, or undefined. */
type CheckAnswer = (text: string) => string | undefined;

interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
}

export type Prompter = ReturnType<typeof createPrompter>;

/** Prompts need a terminal in both directions. */
export function canPrompt(context: CliContext): boolean {
  return context.stdin.isTTY === true && context.stderr.isTTY === true;
}

/** Every prompt throws CliError when the user cancels (Ctrl-C, Escape). */
export function createPrompter(context: CliContext) {
  const streams = { input: context.stdin, output: context.terminal ?? context.stderr };
  return {
    begin: (title: string) => intro(title, streams),
    say: (message: string) => log.message(message, streams),
    confirm: async (message: string, initialValue: boolean) =>
      answered(await confirm({ message, initialValue, ...streams })),
    text: async (message: string, initialValue: string, check?: CheckAnswer) =>
      answered(await text({ message, initialValue, validate: validator(check), ...streams })) ?? '',
    /** Typed characters are not shown. */
    secret: async (message: string, check?: CheckAnswer) =>
      answered(await password({ message, validate: validator(check), ...streams })) ?? '',
    choose: async <Value extends string>(message: string, choices: readonly Choice<Value>[], initialValue: Value) => {
      const options: { value: string; label: string; hint?: string }[] = [...choices];
      return answered(await select({ message, options, initialValue: initialValue as string, ...streams })) as Value;
    },
  };
}

const validator =
  (check: CheckAnswer | undefined) =>
  (value: string | undefined): string | undefined =>
    check?.(value ?? '');

function answered<Answer>(answer: Answer): Exclude<Answer, symbol> {
  if (typeof answer === 'symbol') throw new CliError('cancelled; nothing was written');
  return answer as Exclude<Answer, symbol>;
}

/** A progress bar on stderr; without a terminal it writes nothing. */
interface ProgressBar {
  /** @param done number of finished steps @param label the current step */
  update(done: number, label?: string): void;
  /** Removes the bar, so that the next output starts on a clean line. */
  end(): void;
}

const BAR = 24;
/** Redraws at most this often, in ms. */
const INTERVAL_MS = 50;
const CLEAR_LINE = '\r\x1b[K';

export function createProgress(context: CliContext, total: number, label: string): ProgressBar {
  if (context.stderr.isTTY !== true || context.env.TERM === 'dumb') return { update: () => {}, end: () => {} };
  const { terminal = context.stderr } = context;
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
      terminal.write(`${CLEAR_LINE}${bar} ${cutToWidth(`${done}/${total} ${text}`, room)}`);
    },
    end() {
      terminal.write(CLEAR_LINE);
    },
  };
}
