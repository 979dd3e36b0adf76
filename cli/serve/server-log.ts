/** The log of a serving process: readable on a terminal, JSON lines elsewhere; on stderr in both cases. */
import type { Redact } from '../../runtime/deliver/redact/redact.ts';
import type { ProcessLogger } from '../../runtime/platform/logger.ts';
import { createLogger } from '../../runtime/platform/logger.ts';
import type { CliContext } from '../base/context.ts';
import { UsageError } from '../base/errors.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** `LOG_LEVEL` sets the level. */
export function createServerLog({ stderr, colour, env, clock }: CliContext, redact?: Redact): ProcessLogger {
  const named = env.LOG_LEVEL === undefined || env.LOG_LEVEL === '' ? 'info' : env.LOG_LEVEL.toLowerCase();
  const level = LEVELS.find((known) => known === named);
  if (level === undefined) throw new UsageError(`LOG_LEVEL takes ${LEVELS.join(', ')}, not "${named}"`);
  return createLogger({
    stream: stderr,
    level,
    pretty: stderr.isTTY === true,
    colour: colour.stderr,
    clock,
    ...(redact && { redact }),
  });
}
